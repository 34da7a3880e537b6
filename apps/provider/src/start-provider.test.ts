import { ManualClock } from "@hivepace/core/testing";
import { afterEach, describe, expect, test } from "vitest";
import type { FakeProvider, ProviderOptions } from "./provider-types.ts";
import { startProvider } from "./start-provider.ts";

let provider: FakeProvider;
afterEach(() => provider.close());

const PATHS = {
  openai: "/v1/chat/completions",
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/gemini-x:generateContent",
};

async function start(options: ProviderOptions): Promise<ManualClock> {
  const clock = new ManualClock();
  provider = await startProvider({ clock, ...options });
  return clock;
}

const post = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
  fetch(provider.url + path, { method: "POST", body: JSON.stringify(body), headers });

describe.each(Object.entries(PATHS))("%s", (_name, path) => {
  test("refuses requests above the limit, and accepts them after the advised time", async () => {
    const clock = await start({ rpm: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(path)).status);
    clock.advance(60_000);
    statuses.push((await post(path)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
    expect(provider.log.map(({ accepted }) => accepted)).toEqual([true, true, false, true]);
  });

  test("counts the tokens that it reports", async () => {
    await start({ outputTokens: 5 });
    const text = await (await post(path, { messages: [{ role: "user", content: "hello there" }] })).text();
    const [counted = 0] = provider.log.map(({ tokens }) => tokens);
    expect(counted).toBeGreaterThan(5);
    expect(text).toMatch(new RegExp(`: ?(${counted}|${counted - 5})\\b`));
  });
});

test("OpenAI's headers have limit, remaining amount and reset time", async () => {
  const clock = await start({ rpm: 60, tpm: 1_000, windowMs: 60_000 });
  const { headers } = await post(PATHS.openai);
  expect(headers.get("x-ratelimit-limit-requests")).toBe("60");
  expect(headers.get("x-ratelimit-remaining-requests")).toBe("59");
  expect(headers.get("x-ratelimit-reset-requests")).toBe("1m0s");
  clock.advance(59_000);
  expect((await post(PATHS.openai)).headers.get("x-ratelimit-remaining-requests")).toBe("58");
});

test("the log has the sender and the retry count", async () => {
  await start({});
  await post(PATHS.openai, { model: "gpt" }, { "x-agent": "bee-1", "x-stainless-retry-count": "2" });
  await post(PATHS.anthropic, {}, { "x-api-key": "key-1" });
  await post(PATHS.openai, {}, { authorization: "Bearer key-2" });
  expect(provider.log.map(({ agent }) => agent)).toEqual(["bee-1", "key-1", "key-2"]);
  expect(provider.log[0]).toMatchObject({ model: "gpt", retryCount: 2 });
});

test("injected failures come in order and consume no limit", async () => {
  await start({ rpm: 1 });
  provider.failNext("overloaded", { status: 418, headers: { "x-tea": "1" }, body: {} }, "spent");
  const answers = [];
  for (let i = 0; i < 4; i++) answers.push((await post(PATHS.anthropic)).status);
  expect(answers).toEqual([529, 418, 429, 200]);
});

test("an injected hang-up closes the connection", async () => {
  await start({});
  provider.failNext("hang-up");
  await expect(post(PATHS.openai)).rejects.toThrow();
  expect(provider.log).toMatchObject([{ status: 0, accepted: false }]);
});

test("an injected overload ends a stream halfway with the protocol's own error", async () => {
  await start({});
  provider.failNext("overloaded-mid-stream");
  const response = await post(PATHS.anthropic, { stream: true });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain("message_start");
  expect(text).toContain("overloaded_error");
  expect(text).not.toContain("message_stop");
});

test("latency delays the response", async () => {
  const clock = await start({ latencyMs: () => 500 });
  let status = 0;
  const answer = post(PATHS.openai).then((response) => {
    status = response.status;
  });
  while (clock.pending === 0) await new Promise(setImmediate);
  clock.advance(499);
  // A request without latency completes in the meantime.
  await post("/v1/models");
  expect(status).toBe(0);
  clock.advance(1);
  await answer;
  expect(status).toBe(200);
});

test("limits change at run time, and close may be called twice", async () => {
  await start({ rpm: 1 });
  await post(PATHS.openai);
  provider.setLimits({ rpm: 2 });
  expect([(await post(PATHS.openai)).status, (await post(PATHS.openai)).status]).toEqual([200, 429]);
  expect(provider.largestWindow()).toMatchObject({ requests: 2 });
  await provider.close();
  await provider.close();
});

test("an unknown path is 404 and not counted", async () => {
  await start({});
  expect((await post("/v1/models")).status).toBe(404);
  expect(provider.log).toEqual([]);
});

test("a bounded log keeps the newest requests, and tallies count all", async () => {
  await start({ rpm: 12, logSize: 4 });
  for (let i = 0; i < 14; i++) await post(PATHS.openai, {}, { "x-agent": i % 2 === 0 ? "even" : "odd" });
  expect(provider.log.length).toBeLessThanOrEqual(8);
  expect(provider.log.at(-1)).toMatchObject({ agent: "odd", accepted: false });
  expect(provider.tally).toMatchObject({ sent: 14, accepted: 12, rejected429: 2 });
  expect(provider.agents.get("odd")).toMatchObject({ sent: 7, accepted: 6, rejected429: 1 });
  expect(provider.peak).toBeCloseTo(14 / 12);
});

test("state() has the limits and their usage", async () => {
  const clock = await start({ rpm: 5, tpm: 1_000, outputTokens: 10 });
  await post(PATHS.openai);
  expect(provider.state()).toMatchObject({ windowMs: 60_000, rpm: 5, tpm: 1_000, usedRequests: 1 });
  expect(provider.state().usedTokens).toBe(provider.tally.tokens);
  provider.setLimits({ rpm: 3 });
  clock.advance(60_000);
  expect(provider.state()).toMatchObject({ rpm: 3, usedRequests: 0, usedTokens: 0 });
});
