import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { OptionError } from "../options.ts";
import { type MetricsPage, openMetrics } from "./open-metrics.ts";

const pages: MetricsPage[] = [];
afterEach(() => Promise.all(pages.splice(0).map((page) => page.close())));

async function open(metrics?: () => Promise<string>): Promise<MetricsPage> {
  const page = await openMetrics(0);
  pages.push(page);
  if (metrics) page.show(metrics);
  return page;
}

/** Sends a request with this `Host` header, which `fetch` does not allow to set. */
function ask(url: string, host: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, async (response) =>
      resolve({ status: response.statusCode, body: await text(response) }),
    );
    asked.on("error", reject).end();
  });
}

test("each request collects the current metrics, in Prometheus' text format", async () => {
  let count = 0;
  const { url } = await open(async () => `a ${++count}\n`);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const answers = [await fetch(url), await fetch(`${url}?name=x`)];
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["a 1\n", "a 2\n"]);
  expect(answers[0]?.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
});

test("the page is empty before the first metrics", async () => {
  const answer = await fetch((await open()).url);
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
});

test("HEAD has no body, other methods get 405, and other paths get 404", async () => {
  const { url } = await open(async () => "a 1\n");
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    const refused = await fetch(url, { method });
    expect([method, refused.status, refused.headers.get("allow")]).toEqual([method, 405, "GET, HEAD"]);
  }
  for (const path of ["/", "/metrics/", "/metrics/x", "/Metrics", "//metrics"])
    expect([path, (await fetch(new URL(url).origin + path)).status]).toEqual([path, 404]);
});

test("a request for another host name is refused", async () => {
  const { url } = await open(async () => "secret 1\n");
  expect(await ask(url, "evil.example")).toEqual({ status: 421, body: expect.not.stringContaining("secret") });
  expect(await ask(url, `localhost:${new URL(url).port}`)).toEqual({ status: 200, body: "secret 1\n" });
});

test("metrics that cannot be collected give a 500, and the server keeps running", async () => {
  const page = await open(() => Promise.reject(new Error("no metrics")));
  const answer = await fetch(page.url);
  expect([answer.status, await answer.json()]).toEqual([500, { error: "no metrics" }]);
  page.show(async () => "a 1\n");
  expect(await (await fetch(page.url)).text()).toBe("a 1\n");
});

test("a port in use is an option error that names the port", async () => {
  const port = Number(new URL((await open()).url).port);
  const again = openMetrics(port);
  await expect(again).rejects.toThrowError(OptionError);
  await expect(again).rejects.toThrowError(`--metrics must be a free port, or 0 for any free port, got ${port}`);
});

test("closing ends the responses under way", async () => {
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const page = await open(() => {
    asked();
    return new Promise(() => {});
  });
  const answer = fetch(page.url);
  answer.catch(() => {});
  await isAsked;
  await page.close();
  await expect(answer).rejects.toThrow();
  await expect(fetch(page.url)).rejects.toThrow();
});
