import type { EndpointConfig } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createHive } from "@hivepace/distributed";
import { OpenAI } from "openai";
import { afterEach, expect, test, vi } from "vitest";
import { type CallEvent, createLimitedFetch, type LimitedFetchOptions } from "../src/index.ts";

const answer = { id: "x", choices: [{ message: { role: "assistant", content: "hi" } }] };
const OPENAI = "https://api.openai.com/v1";
const PROXY = "https://proxy.example/v1";

afterEach(() => vi.restoreAllMocks());

/** OpenAI's own client on a hive with these endpoints. */
async function world(endpoints: readonly EndpointConfig[], options: LimitedFetchOptions = {}) {
  const clock = new ManualClock();
  const hive = await createHive({ endpoints, clock, namespace: "test" });
  const sent: string[] = [];
  const warnings: string[] = [];
  vi.spyOn(process, "emitWarning").mockImplementation((message) => void warnings.push(String(message)));
  const fetch = createLimitedFetch(hive, {
    clock,
    fetch: (async (url: string) => {
      sent.push(url);
      return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
    }) as typeof globalThis.fetch,
    ...options,
  });
  const ask = async (baseURL: string, model: string) => {
    const client = new OpenAI({ apiKey: "k", baseURL, fetch, maxRetries: 0 });
    const chat = await client.chat.completions.create({ model, messages: [{ role: "user", content: "x" }] });
    return chat.choices[0]?.message.content;
  };
  const used = () => hive.status().endpoints.flatMap(({ limits }) => limits.map((limit) => limit.used));
  return { ask, clock, fetch, hive, sent, used, warnings };
}

test("an unknown host counts against the only endpoint of a hive, and stays at its own address", async () => {
  const { ask, sent, used, warnings } = await world([{ id: "openai", rpmLimit: 10 }], {
    endpoints: [{ id: "openai", baseURL: OPENAI }],
  });
  expect(await ask(PROXY, "m")).toBe("hi");
  expect(used()).toEqual([1]);
  expect(sent).toEqual([`${PROXY}/chat/completions`]);
  expect(warnings).toEqual([]);
});

test("an unknown host of a hive with several endpoints passes, and one warning names the missing line", async () => {
  const { ask, used, warnings } = await world([
    { id: "openai", rpmLimit: 10 },
    { id: "azure", rpmLimit: 10 },
  ]);
  expect(await ask(PROXY, "m")).toBe("hi");
  expect(await ask(PROXY, "m")).toBe("hi");
  expect(used()).toEqual([0, 0]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('add {"id":"proxy.example","rpmLimit":60} to the endpoints of the hive');
});

test("a model that a hive with limits per model does not list passes, and one warning names the missing line", async () => {
  const { ask, used, warnings } = await world([{ id: "openai", model: "gpt-a", rpmLimit: 10 }]);
  expect(await ask(OPENAI, "gpt-a")).toBe("hi");
  expect(await ask(OPENAI, "gpt-b")).toBe("hi");
  expect(await ask(OPENAI, "gpt-b")).toBe("hi");
  expect(used()).toEqual([1]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('add {"id":"openai","model":"gpt-b","rpmLimit":60}');
});

test("a list of models passes where all limits are of models, and the warning names no model", async () => {
  const { fetch, sent, warnings } = await world([{ id: "openai", model: "gpt-a", rpmLimit: 10 }]);
  await fetch(`${OPENAI}/models`);
  expect(sent).toEqual([`${OPENAI}/models`]);
  expect(warnings).toEqual([
    'calls without a model to the endpoint "openai" are not limited: add {"id":"openai","rpmLimit":60} to the endpoints of the hive, with your limit, or set unknown: "pass"',
  ]);
});

test('unknown: "pass" sends without a limit and without a warning', async () => {
  const { ask, used, warnings } = await world([{ id: "openai", rpmLimit: 10 }], { unknown: "pass" });
  expect(await ask(PROXY, "m")).toBe("hi");
  expect([used(), warnings]).toEqual([[0], []]);
});

test('unknown: "limit" counts against the first of several endpoints', async () => {
  const endpoints = [
    { id: "openai", rpmLimit: 10 },
    { id: "azure", rpmLimit: 10 },
  ];
  const { ask, used } = await world(endpoints, { unknown: "limit" });
  expect(await ask(PROXY, "m")).toBe("hi");
  expect(used().sort()).toEqual([0, 1]);
});

test("events name the endpoint at which a call counts", async () => {
  const seen: CallEvent[] = [];
  const { ask, clock } = await world([{ id: "openai", rpmLimit: 1 }], {
    unknown: "limit",
    onEvent: (event) => void seen.push(event),
  });
  await ask(PROXY, "m");
  const waiting = ask(PROXY, "m");
  await vi.waitFor(() => expect(clock.pending).toBeGreaterThan(0));
  for (let i = 0; i < 130; i++) await clock.run(500);
  await waiting;
  expect(seen.map(({ type, endpoint }) => [type, endpoint])).toEqual([
    ["sent", "openai"],
    ["waiting", "openai"],
    ["sent", "openai"],
  ]);
});

test('unknown: "reject" is an answer in the provider\'s shape and no connection error', async () => {
  const { ask, sent } = await world([{ id: "openai", rpmLimit: 10 }], { unknown: "reject" });
  await expect(ask(PROXY, "m")).rejects.toMatchObject({ status: 400, type: "invalid_request_error" });
  expect(sent).toEqual([]);
});

test("another value of unknown is a mistake that is named", async () => {
  await expect(world([{ id: "openai" }], { unknown: "drop" as "pass" })).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    option: "unknown",
  });
});
