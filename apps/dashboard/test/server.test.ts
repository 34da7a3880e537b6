import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { isHivepaceError } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { until } from "@hivepace/test-kit";
import { afterEach, describe, expect, test } from "vitest";
import { MAX_READERS } from "../src/fan-out.ts";
import { type Dashboard, type DashboardOptions, startDashboard } from "../src/index.ts";
import type { Hello, Update } from "../src/wire.ts";
import { agent, PretendObserver, resource } from "./support/pretend-observer.ts";

let open: Dashboard[] = [];
afterEach(async () => {
  await Promise.all(open.map((dashboard) => dashboard.close()));
  open = [];
});

async function start(options: Partial<DashboardOptions> = {}) {
  const clock = new ManualClock();
  const observer = (options.observer as PretendObserver | undefined) ?? new PretendObserver();
  const dashboard = await startDashboard({ clock, ...options, observer });
  open.push(dashboard);
  return { clock, observer, dashboard, url: dashboard.url, port: Number(new URL(dashboard.url).port) };
}

/** Sends a request with headers that `fetch` does not allow to set. */
async function ask(url: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  const request = httpRequest(url, options);
  request.end(options.body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, headers: response.headers, body };
}

/** Opens a page's connection and collects its messages. */
async function listen(url: string) {
  const messages: { event: string; data: Hello & Update }[] = [];
  const request = httpRequest(`${url}/events`);
  request.on("error", () => {});
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let [text, isEnded] = ["", false];
  response.on("data", (chunk) => {
    text += String(chunk);
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, event = "", data = ""] = text.slice(0, end).match(/^event: (\w+)\ndata: (.*)$/) ?? [];
      messages.push({ event, data: JSON.parse(data) });
      text = text.slice(end + 2);
    }
  });
  response.on("error", () => {});
  response.on("close", () => {
    isEnded = true;
  });
  await until(() => messages.length > 0 || isEnded, "a first message");
  return { messages, response, request, isEnded: () => isEnded };
}

const sends = (change: Record<string, string> = {}) => ({ "content-type": "application/json", ...change });

describe("public routes", () => {
  test("the page and its files have their content types, are not cached, and allow no foreign content", async () => {
    const { url } = await start();
    for (const [path, type] of [
      ["/", "text/html; charset=utf-8"],
      ["/page.js", "text/javascript; charset=utf-8"],
      ["/page.css", "text/css; charset=utf-8"],
      ["/icon.svg", "image/svg+xml"],
      ["/snapshot", "application/json; charset=utf-8"],
    ]) {
      const { status, headers, body } = await ask(url + path);
      expect([path, status, headers["content-type"]]).toEqual([path, 200, type]);
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(headers["content-security-policy"]).not.toMatch(/unsafe|http/);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
      expect(body.length).toBeGreaterThan(100);
    }
  });

  test("the page has no inline script or style, and nothing from elsewhere", async () => {
    const { body } = await ask((await start()).url);
    expect(body).not.toMatch(/<script(?![^>]* src="page\.js")|<style|style=|https?:/);
  });

  test("the snapshot is the swarm as JSON, with null for an absent limit", async () => {
    const limits = [{ dimension: undefined, limit: Infinity, total: Infinity, used: 1, usedSince: 1, waiting: 0 }];
    const observer = new PretendObserver();
    observer.now = { ...observer.now, members: 1, agents: [agent("<a>")], resources: [resource({ limits })] };
    const { url } = await start({ observer, title: "Mine" });
    observer.emit({ type: "joined", agentId: "<a>" });
    const snapshot = JSON.parse((await ask(`${url}/snapshot`)).body);
    expect(snapshot).toMatchObject({ title: "Mine", namespace: "prod", members: 1, bus: "ready" });
    expect(snapshot.resources[0].limits[0]).toMatchObject({ limit: null, used: 1 });
    expect(snapshot.events).toMatchObject([{ seq: 1, event: { type: "joined", agentId: "<a>" } }]);
  });

  test("other paths are 404, other methods 405", async () => {
    const { url } = await start();
    for (const path of ["/nothing", "/../package.json", "/page/main.ts", "/controls", "//"])
      expect([path, (await ask(url + path)).status]).toEqual([path, 404]);
    expect((await ask(url, { method: "POST" })).status).toBe(405);
    expect((await ask(`${url}/snapshot`, { method: "DELETE" })).status).toBe(405);
    expect((await ask(url, { method: "HEAD" })).body).toBe("");
  });

  test.each(["/", "/events", "/snapshot", "/page.js"])("%s is refused for a foreign Host name", async (path) => {
    const { url, port } = await start();
    const { status, body } = await ask(url + path, { headers: { host: `evil.example:${port}` } });
    expect(status).toBe(421);
    expect(body).toContain("evil.example");
    expect((await ask(url, { headers: { host: `localhost:${port}` } })).status).toBe(200);
  });
});

describe("a page's connection", () => {
  test("begins with the whole state and continues with news", async () => {
    const { url, observer, clock } = await start();
    observer.emit({ type: "joined", agentId: "before" });
    clock.advance(5_000);
    const { messages } = await listen(url);
    expect(messages[0]?.event).toBe("hello");
    expect(messages[0]?.data.update.points).toHaveLength(6);
    expect(messages[0]?.data.update.events).toHaveLength(1);
    observer.now = { ...observer.now, members: 42 };
    observer.emit({ type: "joined", agentId: "after" });
    for (const length of [2, 3]) {
      clock.advance(500);
      await until(() => messages.length === length, "an update");
    }
    const points = messages.slice(1).flatMap(({ data }) => data.points);
    const events = messages.slice(1).flatMap(({ data }) => data.events);
    expect(points.map(({ members }) => members)).toEqual([42]);
    expect(events.map(({ event }) => event)).toEqual([{ type: "joined", agentId: "after" }]);
  });

  test("several pages receive the same messages", async () => {
    const { url, clock } = await start();
    const pages = await Promise.all([listen(url), listen(url), listen(url)]);
    clock.advance(500);
    for (const { messages } of pages) await until(() => messages.length === 2, "an update for each");
  });

  test("a page that reads nothing does not grow the memory, and other pages continue", async () => {
    const observer = new PretendObserver();
    const agents = Array.from({ length: 3_000 }, (_, i) => agent(`agent-${i}-${"x".repeat(100)}`));
    observer.now = { ...observer.now, agents };
    const { url, port, clock } = await start({ observer });
    const stuck = connect(port, "127.0.0.1");
    stuck.on("error", () => {});
    stuck.write(`GET /events HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
    stuck.pause();
    const { messages } = await listen(url);
    // Sends until the connection is dropped: half a megabyte each time, of which the socket buffers hold a few.
    let isGone = false;
    stuck.on("close", () => {
      isGone = true;
    });
    for (let i = 2; i <= 90; i++) {
      clock.advance(1_500);
      await until(() => messages.length >= i, "the other page goes on");
    }
    let received = 0;
    stuck.on("data", (chunk) => {
      received += chunk.length;
    });
    stuck.resume();
    await until(() => isGone, "the end of the one that read nothing");
    const told = messages.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
    expect(received).toBeLessThan(told / 2);
  });

  test("the number of concurrent pages is limited", async () => {
    const { url } = await start();
    const pages = await Promise.all(Array.from({ length: MAX_READERS }, () => listen(url)));
    expect((await ask(`${url}/events`)).status).toBe(503);
    pages[0]?.request.destroy();
    let isIn = false;
    await until(async () => {
      const page = await listen(url);
      isIn = page.messages.length > 0;
      return isIn;
    }, "the place of one that left");
    expect(isIn).toBe(true);
  });

  test("ends when the dashboard is closed, also twice, and the observer stays open", async () => {
    const { url, dashboard, observer, clock } = await start();
    const page = await listen(url);
    expect(observer.listeners).toBe(1);
    await Promise.all([dashboard.close(), dashboard.close()]);
    await until(page.isEnded, "the end of the connection");
    expect([observer.listeners, observer.isClosed, clock.pending]).toEqual([0, false, 0]);
    await expect(ask(url)).rejects.toThrow();
  });
});

describe("controls", () => {
  const cut = { id: "cut", label: "Cut the limit", about: "Halves it.", run: async () => "It is 500 now." };

  async function withControls(run: () => Promise<string> = cut.run) {
    const started = await start({ controls: [{ ...cut, run }] });
    const { messages } = await listen(started.url);
    const { token = "", controls } = messages[0]?.data ?? {};
    const headers = { ...sends(), origin: started.url, "x-hivepace-token": token };
    const press = (change: Record<string, string> = {}, id = "cut", body = "{}") =>
      ask(`${started.url}/controls/${id}`, { method: "POST", headers: { ...headers, ...change }, body });
    return { ...started, messages, token, controls, press };
  }

  test("run for a request with the token, and all pages receive the outcome", async () => {
    const { press, controls, messages, clock } = await withControls();
    expect(controls).toEqual([{ id: "cut", label: "Cut the limit", about: "Halves it." }]);
    const { status, body } = await press();
    expect([status, JSON.parse(body)]).toEqual([200, { done: "It is 500 now." }]);
    clock.advance(500);
    await until(() => messages.length === 2, "an update");
    const event = { type: "control", label: "Cut the limit", text: "It is 500 now.", hasFailed: false };
    expect(messages[1]?.data.events).toMatchObject([{ event }]);
  });

  test.each([
    [403, { "x-hivepace-token": "wrong" }],
    [403, { origin: "http://evil.example" }],
    [403, { "content-type": "text/plain" }],
    [421, { host: "evil.example" }],
  ])("refuse with %d who sends %j, and do nothing", async (status, change) => {
    let runs = 0;
    const { press } = await withControls(async () => String(++runs));
    expect((await press(change as unknown as Record<string, string>)).status).toBe(status);
    expect(runs).toBe(0);
  });

  test("respond 404 for an unknown id, 400 for a body that is not JSON or too long, and 405 for GET", async () => {
    const { press, url } = await withControls();
    expect((await press({}, "other")).status).toBe(404);
    expect((await press({}, "cut", "{")).status).toBe(400);
    expect((await press({}, "cut", JSON.stringify("x".repeat(2_000)))).status).toBe(400);
    expect((await ask(`${url}/controls/cut`)).status).toBe(405);
  });

  test("that reject respond with the reason", async () => {
    const { press } = await withControls(() => Promise.reject(new Error("no agent is left")));
    const { status, body } = await press();
    expect([status, JSON.parse(body)]).toEqual([500, { error: "no agent is left" }]);
  });

  test("that throw synchronously respond with the reason", async () => {
    const { press } = await withControls(() => {
      throw new Error("at once");
    });
    expect(JSON.parse((await press()).body)).toEqual({ error: "at once" });
  });

  test("run at most once at a time", async () => {
    let finish: (text: string) => void = () => {};
    const { press } = await withControls(() => new Promise((resolve) => (finish = resolve)));
    const first = press();
    await until(async () => (await press()).status === 409, "a second press while the first is under way");
    finish("done");
    expect((await first).status).toBe(200);
  });

  test("that are running do not delay close", async () => {
    let isRunning = false;
    const { press, dashboard } = await withControls(() => {
      isRunning = true;
      return new Promise(() => {});
    });
    const answer = press().catch((error: unknown) => error);
    await until(() => isRunning, "the control is under way");
    await dashboard.close();
    expect(await answer).toBeInstanceOf(Error);
  });

  test("do not exist when none are given: no token, no route", async () => {
    const { url } = await start();
    const { messages } = await listen(url);
    expect(messages[0]?.data).not.toHaveProperty("token");
    expect(messages[0]?.data.controls).toEqual([]);
    const { status } = await ask(`${url}/controls/cut`, {
      method: "POST",
      headers: sends({ origin: url }),
      body: "{}",
    });
    expect(status).toBe(405);
    expect((await ask(`${url}/controls/cut`)).status).toBe(404);
  });
});

describe("the listening address", () => {
  test("defaults to loopback and a free port", async () => {
    expect((await start()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("a port in use is PORT_IN_USE, names the port, and leaves no handle open", async () => {
    const { port } = await start();
    const observer = new PretendObserver();
    const error = await startDashboard({ observer, port }).catch((caught: unknown) => caught);
    expect(isHivepaceError(error, "PORT_IN_USE")).toBe(true);
    expect(String(error)).toContain(`port ${port} of 127.0.0.1 is in use`);
    expect(observer.listeners).toBe(0);
  });

  test("an address of another machine is CANNOT_LISTEN", async () => {
    const error = await startDashboard({ observer: new PretendObserver(), host: "192.0.2.1" }).catch(
      (caught) => caught,
    );
    expect(isHivepaceError(error, "CANNOT_LISTEN")).toBe(true);
  });

  test("all interfaces accept any address as Host, but no foreign name", async () => {
    const { url, port } = await start({ host: "0.0.0.0" });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await ask(url, { headers: { host: `10.1.2.3:${port}` } })).status).toBe(200);
    expect((await ask(url, { headers: { host: "evil.example" } })).status).toBe(421);
  });
});
