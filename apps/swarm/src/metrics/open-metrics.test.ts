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

/** With the name by which it is called, which `fetch` does not let one choose. */
function ask(url: string, host: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, async (response) =>
      resolve({ status: response.statusCode, body: await text(response) }),
    );
    asked.on("error", reject).end();
  });
}

test("it shows what there is, in Prometheus' text format, each time anew", async () => {
  let count = 0;
  const { url } = await open(async () => `a ${++count}\n`);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const answers = [await fetch(url), await fetch(`${url}?name=x`)];
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["a 1\n", "a 2\n"]);
  expect(answers[0]?.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
});

test("before there is anything to show it is empty", async () => {
  const answer = await fetch((await open()).url);
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
});

test("HEAD has no body; what only GET may do is refused, and everything else is not there", async () => {
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

test("by a name of somebody else it says nothing", async () => {
  const { url } = await open(async () => "secret 1\n");
  expect(await ask(url, "evil.example")).toEqual({ status: 421, body: expect.not.stringContaining("secret") });
  expect(await ask(url, `localhost:${new URL(url).port}`)).toEqual({ status: 200, body: "secret 1\n" });
});

test("metrics that cannot be had are an error of the server, which goes on", async () => {
  const page = await open(() => Promise.reject(new Error("no metrics")));
  const answer = await fetch(page.url);
  expect([answer.status, await answer.json()]).toEqual([500, { error: "no metrics" }]);
  page.show(async () => "a 1\n");
  expect(await (await fetch(page.url)).text()).toBe("a 1\n");
});

test("a port that is taken is a wrong option, and the line names it", async () => {
  const port = Number(new URL((await open()).url).port);
  const again = openMetrics(port);
  await expect(again).rejects.toThrowError(OptionError);
  await expect(again).rejects.toThrowError(
    `--metrics must be a port that is free, or 0 for any that is free, got ${port}`,
  );
});

test("closed, it ends the answers that are under way", async () => {
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
