import type { DiagnosticEvents } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createHive } from "@hivepace/distributed";
import { hear } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import type { CallEvent } from "../pacing/call-events.ts";
import { createLimitedFetch, type LimitedFetchOptions } from "./create-limited-fetch.ts";

const CHAT = "https://api.openai.com/v1/chat/completions";
const request = {
  method: "POST",
  headers: { authorization: "Bearer openai" },
  body: JSON.stringify({ model: "large" }),
};
const fallback = [
  { endpoint: "openai", model: "small" },
  { endpoint: "other", model: "third" },
];
const endpoints = [
  { id: "openai", baseURL: "https://api.openai.com/v1" },
  { id: "other", baseURL: "https://other.example/v1", apiKey: "other" },
];

type Answers = Readonly<Record<string, () => Response>>;

/** A limited fetch with a chain of three models; `answers` are those of the models that do not simply answer. */
async function world(answers: Answers = {}, options: LimitedFetchOptions = {}, rpmLimit = 100) {
  const clock = new ManualClock();
  const hive = await createHive({
    clock,
    namespace: "test",
    endpoints: [
      { id: "openai", model: "large", rpmLimit },
      { id: "openai", model: "small", rpmLimit: 100 },
      { id: "other", rpmLimit: 100 },
    ],
  });
  const sent: (readonly [string, string | null, string])[] = [];
  const events: CallEvent[] = [];
  const limited = createLimitedFetch(hive, {
    clock,
    endpoints,
    fallback,
    random: () => 0,
    onEvent: (event) => events.push(event),
    fetch: (async (url: string, init: RequestInit) => {
      const { model } = JSON.parse(String(init.body)) as { model: string };
      sent.push([url, new Headers(init.headers).get("authorization"), model]);
      return answers[model]?.() ?? Response.json({ model });
    }) as unknown as typeof globalThis.fetch,
    ...options,
  });
  const ask = async () => {
    const response = await limited(CHAT, request);
    return [response.status, ((await response.json()) as { model?: string }).model];
  };
  return { clock, ask, sent, events };
}

const spent = () => Response.json({ error: { code: "insufficient_quota" } }, { status: 429 });
const away = () => {
  throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
};

test("a call whose model is available stays there", async () => {
  const { ask, sent } = await world();
  expect(await ask()).toEqual([200, "large"]);
  expect(sent).toHaveLength(1);
});

test("a call whose quota is gone goes to the next model, and on to the next endpoint with that one's key", async () => {
  const { ask, sent } = await world({ large: spent, small: spent });
  expect(await ask()).toEqual([200, "third"]);
  expect(sent).toEqual([
    [CHAT, "Bearer openai", "large"],
    [CHAT, "Bearer openai", "small"],
    ["https://other.example/v1/chat/completions", "Bearer other", "third"],
  ]);
});

test("a call that would wait longer than fallbackAfterMs moves on, and one that would not waits", async () => {
  const { clock, ask, events } = await world({}, { fallbackAfterMs: 5_000 }, 1);
  expect(await ask()).toEqual([200, "large"]);
  const moved = ask();
  await clock.run(5_000);
  expect(await moved).toEqual([200, "small"]);
  expect(events.map(({ type, model }) => [type, model])).toEqual([
    ["sent", "large"],
    ["waiting", "large"],
    ["moved", "large"],
    ["sent", "small"],
  ]);
  await clock.run(52_000);
  const waited = ask();
  await clock.run(5_000);
  expect(await waited).toEqual([200, "large"]);
});

test("a refusal whose wait is short is waited for, a long one is not", async () => {
  let refusals = 1;
  const limitedFor = (seconds: number) => () =>
    refusals-- > 0
      ? Response.json({}, { status: 429, headers: { "retry-after": String(seconds) } })
      : Response.json({ model: "large" });
  const short = await world({ large: limitedFor(2) }, { fallbackAfterMs: 5_000 });
  const answer = short.ask();
  await short.clock.run(2_000);
  expect(await answer).toEqual([200, "large"]);
  expect(short.events.map(({ type }) => type)).toContain("retrying");
  refusals = 1;
  const long = await world({ large: limitedFor(30) }, { fallbackAfterMs: 5_000 });
  expect(await long.ask()).toEqual([200, "small"]);
});

test("a host that cannot be reached is left for the next", async () => {
  const { ask } = await world({ large: away });
  expect(await ask()).toEqual([200, "small"]);
});

test("when all fail, the caller gets the last answer", async () => {
  const { ask, sent } = await world({ large: spent, small: spent, third: away });
  expect(await ask()).toEqual([429, undefined]);
  expect(sent).toHaveLength(3);
});

test("a request that is too large, or a mistake, moves nowhere", async () => {
  for (const status of [400, 413]) {
    const { ask, sent } = await world({ large: () => Response.json({}, { status }) });
    expect(await ask()).toEqual([status, undefined]);
    expect(sent).toHaveLength(1);
  }
});

test("a move says where the call was last, also after moves along a route", async () => {
  using heard = hear<DiagnosticEvents>(["hivepace:sending"]);
  const { ask, events } = await world({ large: away, small: spent }, { endpoint: ["openai", "other"] });
  expect(await ask()).toEqual([200, "third"]);
  const moved = events.filter(({ type }) => type === "moved");
  expect(moved.map((event) => [event.endpoint, event.model, "to" in event && event.to])).toEqual([
    ["openai", "large", "other"],
    ["other", "large", "openai"],
    ["openai", "small", "other"],
  ]);
  expect(
    heard.of("hivepace:sending").map(({ resource, model, moves, movedFrom }) => [resource, model, moves, movedFrom]),
  ).toEqual([
    ["openai", "large", 0, undefined],
    ["other", "large", 1, { resource: "openai", model: "large" }],
    ["openai", "small", 2, { resource: "other", model: "large" }],
    ["other", "third", 3, { resource: "openai", model: "small" }],
  ]);
});

test("a listener that throws harms no call", async () => {
  const { ask } = await world({}, { onEvent: () => JSON.parse("{") });
  expect(await ask()).toEqual([200, "large"]);
});

test.each([
  ["fallback", { fallback: {} }],
  ["fallback[].endpoint", { fallback: [{ endpoint: "" }] }],
  ["fallbackAfterMs", { fallbackAfterMs: -1 }],
  ["onEvent", { onEvent: "log" }],
])("a mistake in %s is named", async (option, options) => {
  await expect(world({}, options as unknown as LimitedFetchOptions)).rejects.toMatchObject({ option });
});
