import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { ManualClock } from "@hivepace/core/testing";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import { Agent, request, fetch as undiciFetch } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PacingOptions } from "../src/index.ts";
import { hivepaceInterceptor } from "../src/undici.ts";
import { LocalGate } from "./support/local-gate.ts";

let provider: FakeProvider;
let gate: LocalGate;
let agent: Agent;

beforeEach(async () => {
  provider = await startProvider();
  gate = new LocalGate();
  agent = new Agent();
});
afterEach(async () => {
  await agent.close();
  await gate.close();
  await provider.close();
});

const body = JSON.stringify({ model: "gpt-x", messages: [{ role: "user", content: "hello" }] });
const dispatcher = (options: PacingOptions = {}) =>
  agent.compose(hivepaceInterceptor(gate, { baseDelayMs: 5, endpoint: "p", ...options }));
const ask = (options: PacingOptions = {}, more: object = {}) =>
  request(`${provider.url}/v1/chat/completions`, { method: "POST", body, dispatcher: dispatcher(options), ...more });

test("an answer arrives whole and is settled", async () => {
  const { statusCode, body: answer } = await ask();
  expect(statusCode).toBe(200);
  expect(await answer.json()).toMatchObject({ usage: { completion_tokens: 16 } });
  expect(gate.endings).toMatchObject([{ how: "done", used: { tokens: provider.log[0]?.tokens } }]);
  expect(gate.granted[0]?.request).toMatchObject({ endpoint: "p", model: "gpt-x" });
});

test("undici's own fetch goes the same way, streams too", async () => {
  const streamed = JSON.stringify({ ...JSON.parse(body), stream: true, stream_options: { include_usage: true } });
  const answer = await undiciFetch(`${provider.url}/v1/chat/completions`, {
    method: "POST",
    body: streamed,
    dispatcher: dispatcher(),
  });
  expect((await answer.text()).match(/"content":"bee "/g)).toHaveLength(16);
  expect(gate.endings).toMatchObject([{ how: "done", used: { tokens: provider.log[0]?.tokens } }]);
});

test("a refusal is announced, waited for and sent again", async () => {
  provider.failNext("rate-limited", "overloaded");
  const { statusCode, body: answer } = await ask();
  await answer.dump();
  expect(statusCode).toBe(200);
  expect(gate.endings).toMatchObject([
    { how: "refused", refusal: { kind: "limit", reason: "429 rate_limited" } },
    { how: "refused", refusal: { kind: "overload" } },
    { how: "done" },
  ]);
});

test("a refusal that does not pass by waiting reaches the caller, marked and whole", async () => {
  provider.failNext("spent");
  const { statusCode, headers, body: answer } = await ask();
  expect([statusCode, headers["x-should-retry"]]).toEqual([429, "false"]);
  expect(await answer.json()).toMatchObject({ error: { code: "insufficient_quota" } });
  expect(provider.log).toHaveLength(1);
});

test("an error that is too long to keep is passed on while it comes", async () => {
  const chunk = Buffer.alloc(65_536, "x");
  let finish = (): void => undefined;
  const server = createServer((_request, response) => {
    response.writeHead(500);
    for (let i = 0; i < 32; i++) response.write(chunk);
    finish = () => response.end("the end");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const { statusCode, body: answer } = await request(`http://127.0.0.1:${port}/`, { dispatcher: dispatcher() });
    expect(statusCode).toBe(500);
    expect(gate.endings).toMatchObject([{ how: "failed" }]);
    let length = 0;
    // The server ends its answer when the client has had most of it.
    for await (const part of answer) {
      length += part.length;
      if (length >= 32 * chunk.length) finish();
    }
    expect(length).toBe(32 * chunk.length + 7);
  } finally {
    server.close();
  }
});

test("a wait that takes too long is a 429, and nothing is sent", async () => {
  await gate.close();
  gate = new LocalGate({ rpm: 2 });
  await (await ask()).body.dump();
  const { statusCode, headers, body: answer } = await ask({ timeoutMs: 5 });
  expect([statusCode, headers["x-hivepace"], Number(headers["retry-after"]) > 0]).toEqual([429, "timeout", true]);
  expect(await answer.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  expect(provider.log).toHaveLength(1);
});

test.each(["x-stainless-timeout", "X-Server-Timeout"])(
  "a call waits no longer than most of the SDK's timeout: %s",
  async (name) => {
    const { body: answer } = await ask({ clock: new ManualClock() }, { headers: { [name]: "10" } });
    await answer.dump();
    expect(gate.granted[0]?.request.timeoutMs).toBe(8_000);
  },
);

test("undici's own fetch gets the same 429", async () => {
  await gate.close();
  gate = new LocalGate({ rpm: 2 });
  await (await ask()).body.dump();
  const url = `${provider.url}/v1/chat/completions`;
  const answer = await undiciFetch(url, { method: "POST", body, dispatcher: dispatcher({ timeoutMs: 5 }) });
  expect([answer.status, await answer.json()]).toMatchObject([429, { error: { code: "rate_limit_exceeded" } }]);
});

test("the handler receives one start, before anything else", async () => {
  await gate.close();
  gate = new LocalGate({ rpm: 2 });
  const seen: string[] = [];
  const run = (options: PacingOptions) =>
    new Promise<void>((resolve, reject) => {
      const { origin, pathname: path } = new URL(`${provider.url}/v1/chat/completions`);
      dispatcher(options).dispatch(
        { origin, path, method: "POST", body },
        {
          onRequestStart: () => void seen.push("start"),
          onResponseStart: (_, status) => void seen.push(`${status}`),
          onResponseData: () => undefined,
          onResponseEnd: () => resolve(),
          onResponseError: (_, error) => reject(error),
        },
      );
    });
  provider.failNext("spent");
  await run({});
  await run({ timeoutMs: 5 });
  expect(seen).toEqual(["start", "429", "start", "429"]);
});

test("a broken connection is the caller's error, and ends the lease", async () => {
  provider.failNext("hang-up");
  await expect(ask()).rejects.toThrow();
  expect(gate.endings).toMatchObject([{ how: "failed", failure: { wasSent: true } }]);
});

test("a request that never left uses nothing", async () => {
  await expect(request("http://127.0.0.1:1/v1/chat/completions", { dispatcher: dispatcher() })).rejects.toThrow();
  expect(gate.endings).toMatchObject([{ how: "failed", failure: { reason: "ECONNREFUSED", wasSent: false } }]);
});

test("an abort while it waits for the gate ends the wait", async () => {
  await gate.close();
  gate = new LocalGate({ rpm: 2 });
  await (await ask()).body.dump();
  const abort = new AbortController();
  const waiting = ask({}, { signal: abort.signal });
  const outcome = expect(waiting).rejects.toThrow("enough");
  abort.abort(new Error("enough"));
  await outcome;
  expect(provider.log).toHaveLength(1);
});

test("a closed gate is the caller's error", async () => {
  await gate.close();
  await expect(ask()).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
});

test("an overload in a stream is announced", async () => {
  provider.failNext("overloaded-mid-stream");
  const { body: answer } = await ask({}, { body: JSON.stringify({ ...JSON.parse(body), stream: true }) });
  await answer.text();
  expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "overload" } }]);
});

test("an answer is asked for without compression, or its usage could not be read; other headers stay", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  const headers = { "X-Mine": "1" };
  await (await undiciFetch(url, { method: "POST", body, headers, dispatcher: dispatcher() })).text();
  for (const more of [{ "X-Mine": "1", "Accept-Encoding": "gzip" }, ["X-Mine", "1", "Accept-Encoding", "gzip"]])
    await (await request(url, { method: "POST", body, headers: more, dispatcher: dispatcher() })).body.dump();
  expect(seen.map((fields) => [fields["x-mine"], fields["accept-encoding"]])).toEqual(Array(3).fill(["1", undefined]));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("requests for which there is no endpoint pass by", async () => {
  const { statusCode, body: answer } = await ask({ endpoint: () => undefined });
  await answer.dump();
  expect([statusCode, gate.granted.length]).toEqual([200, 0]);
});
