import { getEventListeners } from "node:events";
import { CapacityExhaustedError, type Gate, type LimitObservation } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { LocalGate } from "../../test/support/local-gate.ts";
import { createLimitedFetch, type LimitedFetchOptions } from "./create-limited-fetch.ts";

const CHAT = "https://api.openai.com/v1/chat/completions";
const MESSAGES = "https://api.anthropic.com/v1/messages";

type Body = NonNullable<ConstructorParameters<typeof Response>[0]>;

interface SentRequest {
  readonly url: string;
  readonly init: RequestInit;
  readonly at: number;
}
type Reply = Response | Error | (() => Response | Promise<Response>);

/** A limited fetch in virtual time; the provider gives these answers, one after the other. */
function world(replies: readonly Reply[], options: LimitedFetchOptions = {}, gateOptions: { rpm?: number } = {}) {
  const clock = new ManualClock();
  const gate = new LocalGate({ clock, ...gateOptions });
  const sent: SentRequest[] = [];
  const left = [...replies];
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push({ url: String(url), init, at: clock.now() });
    const reply = left.shift() ?? json(200, {});
    if (reply instanceof Error) throw reply;
    return typeof reply === "function" ? reply() : reply;
  };
  const limited = createLimitedFetch(gate, {
    clock,
    random: () => 0,
    fetch: fetch as typeof globalThis.fetch,
    ...options,
  });
  return { clock, gate, sent, limited };
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

const events = (...data: readonly unknown[]) =>
  new Response(data.map((item) => `data: ${JSON.stringify(item)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

const post = (body: object, more: RequestInit = {}): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  ...more,
});
const chat = post({ model: "gpt", messages: [{ role: "user", content: "x".repeat(400) }] });
const tooMany = (headers: Record<string, string> = {}) => json(429, { error: { type: "rate_limit_error" } }, headers);

test("the endpoint is the provider, the model that of the request", async () => {
  const { gate, limited } = world([]);
  await limited(CHAT, chat);
  await limited(MESSAGES, post({ model: "claude", messages: [] }));
  await limited("https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent", post({}));
  await limited("https://unit.openai.azure.com/openai/deployments/mine/chat/completions?api-version=1", post({}));
  await limited("https://example.com:8080/things");
  expect(gate.granted.map(({ request }) => [request.endpoint, request.model])).toEqual([
    ["openai", "gpt"],
    ["anthropic", "claude"],
    ["gemini", "gemini-x"],
    ["azure", "mine"],
    ["example.com:8080", undefined],
  ]);
});

test("endpoint, key, session, priority, model and estimate are the caller's to choose", async () => {
  const { gate, limited } = world([], {
    endpoint: ({ model }) => [`${model}-eu`, "us"],
    key: "acme",
    session: ({ url }) => url.slice(0, 5),
    priority: () => 3,
    model: () => "pool",
    estimate: () => ({ inputTokens: 7, outputTokens: 5 }),
  });
  await limited(CHAT, chat);
  expect(gate.granted[0]?.request).toMatchObject({
    route: ["gpt-eu", "us"],
    key: "acme",
    session: "https",
    priority: 3,
    model: "pool",
    tokens: 12,
    inputTokens: 7,
    outputTokens: 5,
  });
});

test("an endpoint of undefined lets a request pass by", async () => {
  const { gate, limited, sent } = world([tooMany()], { endpoint: () => undefined });
  expect((await limited(CHAT, chat)).status).toBe(429);
  expect([gate.granted.length, sent.length]).toEqual([0, 1]);
});

test("usage in the body settles the lease; the caller reads the same body", async () => {
  const body = { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } };
  const { gate, limited } = world([json(200, body)]);
  const response = await limited(CHAT, chat);
  expect(gate.endings).toEqual([undefined]);
  expect(await response.json()).toEqual(body);
  expect(gate.endings).toEqual([{ how: "done", used: { tokens: 120, inputTokens: 100, outputTokens: 20 } }]);
});

test("cached input counts as the provider counts it", async () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 50, output_tokens: 5 };
  const openai = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60 }, completion_tokens: 5 };
  const { gate, limited } = world([json(200, { usage }), json(200, { usage: openai }), json(200, { usage: openai })]);
  await (await limited(MESSAGES, post({ model: "claude" }))).text();
  await (await limited(CHAT, chat)).text();
  await (await limited("https://api.groq.com/openai/v1/chat/completions", chat)).text();
  expect(gate.endings).toMatchObject([{ used: { tokens: 65 } }, { used: { tokens: 105 } }, { used: { tokens: 45 } }]);
});

test("a stream is settled with the usage of its last event", async () => {
  const { gate, limited } = world([
    events(
      { type: "message_start", message: { usage: { input_tokens: 30, output_tokens: 1 } } },
      { type: "content_block_delta", delta: { text: "a" } },
      { type: "message_delta", usage: { output_tokens: 42 } },
    ),
  ]);
  await (await limited(MESSAGES, post({ model: "claude", stream: true }))).text();
  expect(gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 30, outputTokens: 42, tokens: 72 } }]);
});

test("a stream that is left early is settled with what has come", async () => {
  let cancelled: unknown;
  const chunks = ['data: {"a":1}\n\n', 'data: {"a":2}\n\n', 'data: {"a":3}\n\n'];
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => controller.enqueue(new TextEncoder().encode(chunks.shift() ?? "")),
      cancel: (reason) => {
        cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "text/event-stream" };
  const { gate, limited } = world([new Response(source as Body, { headers })], {
    estimate: () => ({ inputTokens: 100, outputTokens: 500 }),
  });
  const reader = (await limited(CHAT, chat)).body?.getReader();
  await reader?.read();
  await reader?.read();
  expect(gate.endings).toEqual([undefined]);
  await reader?.cancel("enough");
  expect(cancelled).toBe("enough");
  expect(gate.endings).toEqual([{ how: "done", used: { tokens: 102, inputTokens: 100, outputTokens: 2 } }]);
});

test("the first usage of a stream does not hide a later one", async () => {
  const start = { type: "message_start", message: { usage: { input_tokens: 30, output_tokens: 1 } } };
  const chunks = [start, { a: 1 }, { a: 2 }, { a: 3 }].map((data) => `data: ${JSON.stringify(data)}\n\n`);
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new TextEncoder().encode(chunks.shift())) },
    { highWaterMark: 0 },
  );
  const answer = new Response(source as Body, { headers: { "content-type": "text/event-stream" } });
  const { gate, limited } = world([answer]);
  const reader = (await limited(MESSAGES, post({ model: "claude", stream: true }))).body?.getReader();
  for (let i = 0; i < 4; i++) await reader?.read();
  await reader?.cancel();
  expect(gate.endings).toEqual([{ how: "done", used: { tokens: 34, inputTokens: 30, outputTokens: 4 } }]);
});

test("nothing is read before the caller reads, and no faster than it reads", async () => {
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new Uint8Array([32, ++pulls])) },
    { highWaterMark: 0 },
  );
  const { clock, limited } = world([new Response(source as Body)]);
  const response = await limited(CHAT, chat);
  await clock.run(10);
  expect(pulls).toBe(0);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.read();
  await clock.run(10);
  expect(pulls).toBe(2);
});

test("a connection that breaks in a stream ends the lease and reaches the caller", async () => {
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("broken")),
  });
  const { gate, limited } = world([new Response(source as Body)]);
  const response = await limited(CHAT, chat);
  await expect(response.text()).rejects.toThrow("broken");
  expect(gate.endings).toEqual([{ how: "done", used: undefined }]);
});

test("a lease that cannot be renewed is no harm to a long stream", async () => {
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new Uint8Array([32])) },
    { highWaterMark: 0 },
  );
  const { clock, gate, limited } = world([new Response(source as Body)]);
  const { acquire } = gate;
  gate.acquire = async (request) => {
    const { renew: _, ...lease } = await acquire.call(gate, request);
    return lease as Awaited<ReturnType<Gate["acquire"]>>;
  };
  const reader = (await limited(CHAT, chat)).body?.getReader();
  await reader?.read();
  clock.advance(60_000);
  expect((await reader?.read())?.done).toBe(false);
});

test("a long stream renews its lease", async () => {
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new Uint8Array([32])) },
    { highWaterMark: 0 },
  );
  const { clock, gate, limited } = world([new Response(source as Body)]);
  const reader = (await limited(CHAT, chat)).body?.getReader();
  for (let i = 0; i < 4; i++) {
    await reader?.read();
    clock.advance(20_000);
  }
  expect(gate.granted[0]?.renewals).toBe(1);
});

test("a refused request is announced, waited for as the provider asks, and sent again with a lease of its own", async () => {
  const { clock, gate, limited, sent } = world([tooMany({ "retry-after": "7" }), json(200, {})]);
  const answer = limited(CHAT, chat);
  await clock.run(6_999);
  expect(sent).toHaveLength(1);
  await clock.run(1);
  expect(await (await answer).text()).toBe("{}");
  expect(sent.map(({ at }) => at)).toEqual([0, 7_000]);
  expect(sent[1]?.init.body).toBe(chat.body);
  expect(gate.endings[0]).toEqual({
    how: "refused",
    refusal: { reason: "429 rate_limited", retryAfterMs: 7_000, kind: "limit" },
  });
  expect(clock.pending).toBe(0);
});

test("waits are spread upwards where the provider names one, and grow where it does not", async () => {
  const named = world([tooMany({ "retry-after": "10" })], { random: () => 0.999 });
  const answer = named.limited(CHAT, chat);
  await named.clock.run(20_000);
  await answer;
  expect(named.sent[1]?.at).toBeCloseTo(10_999);

  const unnamed = world([tooMany(), tooMany(), tooMany()], { random: () => 0 });
  const another = unnamed.limited(CHAT, chat);
  await unnamed.clock.run(20_000);
  await another;
  expect(unnamed.sent.map(({ at }) => at)).toEqual([0, 250, 750, 1_750]);
});

test("after the last retry the caller gets the refusal, marked so that nobody else retries", async () => {
  const { clock, limited, sent } = world([tooMany(), tooMany(), tooMany()], { maxRetries: 2 });
  const answer = limited(CHAT, chat);
  await clock.run(60_000);
  const response = await answer;
  expect(response.status).toBe(429);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toEqual({ error: { type: "rate_limit_error" } });
  expect(sent).toHaveLength(3);
});

test("a refusal that says that it must not be repeated is not repeated", async () => {
  const { limited, sent, gate } = world([tooMany({ "x-should-retry": "false" })]);
  expect((await limited(CHAT, chat)).status).toBe(429);
  expect(sent).toHaveLength(1);
  expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "limit" } }]);
});

test("an overloaded model does not use up the retries of another one", async () => {
  const overloaded = () => json(529, { error: { type: "overloaded_error" } });
  const busy = Array.from({ length: 606 }, () => overloaded);
  const { clock, limited, sent } = world(busy, { maxRetries: 1, baseDelayMs: 1 });
  const ask = async (model: string): Promise<number> => {
    const answer = limited(MESSAGES, post({ model }));
    await clock.run(10);
    return (await answer).status;
  };
  for (let call = 0; call < 305; call++) expect(await ask("busy")).toBe(529);
  // One hundred retries are in reserve, and each of the first hundred calls has earned two.
  expect(sent).toHaveLength(605);
  expect(await ask("other")).toBe(200);
  expect(sent).toHaveLength(607);
});

/** An answer whose body has no end. */
function endless(status: number) {
  let chunks = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(chunks++ === 0 ? 123 : 120)),
    cancel: () => {
      isCancelled = true;
    },
  });
  return { response: new Response(body, { status }), read: () => chunks, isCancelled: () => isCancelled };
}

test("of an error without an end only the start is read; the caller can read on", async () => {
  const { response, read } = endless(400);
  const { limited } = world([response]);
  const answer = await limited(CHAT, chat);
  expect(read()).toBeLessThan(20);
  const reader = answer.body?.getReader();
  let length = 0;
  for (let i = 0; i < 40; i++) length += (await reader?.read())?.value?.length ?? 0;
  expect(length).toBe(40 * 65_536);
  await reader?.cancel();
});

test("of a refusal without an end only the start is kept, and its connection is freed", async () => {
  const { response, read, isCancelled } = endless(429);
  const { clock, limited, sent } = world([response]);
  const answer = limited(CHAT, chat);
  await clock.run(1_000);
  expect((await answer).status).toBe(200);
  expect([sent.length, isCancelled()]).toEqual([2, true]);
  expect(read()).toBeLessThan(20);
});

test("a wait that came to its end leaves no listener", async () => {
  const { limited, clock } = world([tooMany({ "retry-after": "1" })]);
  const { signal } = new AbortController();
  const answer = limited(CHAT, { ...chat, signal });
  await clock.run(1_000);
  await answer;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a provider that asks for too long is not waited for", async () => {
  const { limited, sent } = world([tooMany({ "retry-after": "3600" })]);
  const response = await limited(CHAT, chat);
  expect([response.status, response.headers.get("retry-after"), sent.length]).toEqual([429, "3600", 1]);
});

test("a wait that would pass the deadline is not begun", async () => {
  const { limited, clock } = world([tooMany({ "retry-after": "20" })], { timeoutMs: 15_000 });
  expect((await limited(CHAT, chat)).status).toBe(429);
  expect(clock.pending).toBe(0);
});

test("an overload pauses and does not cut", async () => {
  const { clock, gate, limited } = world([json(529, { error: { type: "overloaded_error" } })]);
  const answer = limited(MESSAGES, post({ model: "claude" }));
  await clock.run(10_000);
  await answer;
  expect(gate.endings[0]).toMatchObject({ how: "refused", refusal: { kind: "overload" } });
});

test("an error that is no refusal is passed on unchanged: no tokens for a bad request, the estimate for a broken server", async () => {
  const { gate, limited, sent } = world([json(400, { error: { message: "bad" } }), json(500, {})]);
  const bad = await limited(CHAT, chat);
  expect([bad.status, bad.headers.has("x-should-retry"), await bad.json()]).toEqual([
    400,
    false,
    { error: { message: "bad" } },
  ]);
  expect((await limited(CHAT, chat)).status).toBe(500);
  expect(gate.endings).toEqual([
    { how: "done", used: { tokens: 0, inputTokens: 0, outputTokens: 0 } },
    { how: "failed", failure: { reason: "500" } },
  ]);
  expect(sent).toHaveLength(2);
});

test("a wait that takes too long is a 429 in the provider's shape, and no throw", async () => {
  const { clock, gate, limited, sent } = world([], { timeoutMs: 5_000 }, { rpm: 2 });
  await limited(CHAT, chat);
  const late = [
    limited(CHAT, chat),
    limited(MESSAGES, post({ model: "claude" })),
    limited(MESSAGES, post({ model: "claude" })),
  ];
  await clock.run(5_000);
  const [openai, , anthropic] = await Promise.all(late);
  expect([openai?.status, anthropic?.status]).toEqual([429, 429]);
  expect(openai?.headers.get("x-should-retry")).toBe("false");
  expect(Number(openai?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await openai?.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  expect(await anthropic?.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
  expect(sent).toHaveLength(2);
  expect(gate.granted).toHaveLength(2);
});

test("a request that can never fit is a 413 at once", async () => {
  const gate: Gate = {
    acquire: () => Promise.reject(new CapacityExhaustedError("openai", "too-large", "it never fits")),
  };
  const response = await createLimitedFetch(gate)(CHAT, chat);
  expect([response.status, response.headers.get("retry-after")]).toEqual([413, null]);
});

test("an SDK's own timeout bounds the wait", async () => {
  const { gate, limited } = world([]);
  await limited(CHAT, { ...chat, headers: { "x-stainless-timeout": "60" } });
  await limited(CHAT, chat);
  expect(gate.granted.map(({ request }) => request.timeoutMs)).toEqual([48_000, 300_000]);
});

test("an abort ends the wait for the gate, with its reason", async () => {
  const { limited, sent, clock } = world([], {}, { rpm: 2 });
  await (await limited(CHAT, chat)).text();
  const abort = new AbortController();
  const waiting = limited(CHAT, { ...chat, signal: abort.signal });
  const outcome = expect(waiting).rejects.toBe("changed my mind");
  await clock.run(1);
  abort.abort("changed my mind");
  await outcome;
  expect(sent).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("an abort ends the wait before a retry, and leaves no timer and no listener", async () => {
  const { limited, sent, clock } = world([tooMany({ "retry-after": "30" })]);
  const abort = new AbortController();
  const waiting = limited(CHAT, { ...chat, signal: abort.signal });
  const outcome = expect(waiting).rejects.toBe("enough");
  await clock.run(1_000);
  expect(getEventListeners(abort.signal, "abort")).toHaveLength(1);
  abort.abort("enough");
  await outcome;
  expect([sent.length, clock.pending]).toEqual([1, 0]);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});

test("a request that never left uses nothing, one that may have arrived uses its estimate; the caller gets the error", async () => {
  const refused = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
  const { gate, limited } = world([refused, new TypeError("terminated")]);
  await expect(limited(CHAT, chat)).rejects.toBe(refused);
  await expect(limited(CHAT, chat)).rejects.toThrow("terminated");
  expect(gate.endings).toMatchObject([
    { how: "failed", failure: { reason: "ECONNREFUSED", wasSent: false } },
    { how: "failed", failure: { wasSent: true } },
  ]);
});

test("a request that uses no tokens is over when its answer begins, and its body is left alone", async () => {
  const answered = json(200, { data: [] });
  const { gate, limited } = world([answered]);
  expect(await limited("https://api.openai.com/v1/models")).toBe(answered);
  expect(gate.endings).toEqual([{ how: "done", used: undefined }]);
  expect(gate.granted[0]?.request.tokens).toBe(0);
});

test("an invalid URL is left to fetch", async () => {
  const { gate, limited, sent } = world([]);
  await limited("/relative");
  expect([sent[0]?.url, gate.granted.length]).toEqual(["/relative", 0]);
});

test("without capacity in time after a refusal, the caller gets the refusal", async () => {
  const { clock, limited, sent } = world([tooMany({ "retry-after": "1" })], { timeoutMs: 10_000 }, { rpm: 2 });
  const answer = limited(CHAT, chat);
  await clock.run(10_000);
  const response = await answer;
  expect([response.status, response.headers.get("retry-after"), response.headers.has("x-hivepace")]).toEqual([
    429,
    "1",
    false,
  ]);
  expect(sent).toHaveLength(1);
});

test("a body that is a stream is sent once", async () => {
  const { limited, sent } = world([tooMany()]);
  const body = new ReadableStream({ start: (controller) => controller.close() });
  expect((await limited(CHAT, { method: "POST", body: body as Body })).status).toBe(429);
  expect(sent).toHaveLength(1);
});

test("a Request is read once and sent as often as need be", async () => {
  const { clock, gate, limited, sent } = world([tooMany()]);
  const answer = limited(new Request(CHAT, { ...chat, headers: { "x-mine": "1" } } as RequestInit));
  await clock.run(1_000);
  expect((await answer).status).toBe(200);
  expect(gate.granted[0]?.request.model).toBe("gpt");
  expect(sent.map(({ init }) => new TextDecoder().decode(init.body as Uint8Array))).toEqual([chat.body, chat.body]);
  expect(sent[1]?.init.method).toBe("POST");
  expect(sent.map(({ init }) => new Headers(init.headers).get("x-mine"))).toEqual(["1", "1"]);
});

test("options beside a Request count before its own", async () => {
  const { limited, sent } = world([]);
  const request = new Request(CHAT, { ...chat, headers: { "x-mine": "1" } } as RequestInit);
  await limited(request, { method: "PUT", headers: { "x-mine": "2" }, body: "{}" });
  expect([sent[0]?.init.method, sent[0]?.init.body]).toEqual(["PUT", "{}"]);
  expect(new Headers(sent[0]?.init.headers).get("x-mine")).toBe("2");
});

const eu = { id: "eu", baseURL: "https://eu.example.com/v1", apiKey: "eu-key", provider: "openai" };
const us = { id: "us", baseURL: "https://us.example.com/openai/v1", apiKey: async () => "us-key", provider: "openai" };

test("a request moves to the endpoint of its lease, with that one's key", async () => {
  const { limited, sent, gate } = world([], { endpoints: [eu, us], endpoint: ["us"] });
  await limited(`${eu.baseURL}/chat/completions?a=1`, {
    ...chat,
    headers: { authorization: "Bearer eu-key", "x-mine": "1" },
  });
  await limited(CHAT, chat);
  await limited(`${us.baseURL}/chat/completions`, { ...chat, headers: { authorization: "Bearer own" } });
  expect(sent.map(({ url }) => url)).toEqual([
    "https://us.example.com/openai/v1/chat/completions?a=1",
    "https://us.example.com/openai/v1/chat/completions",
    "https://us.example.com/openai/v1/chat/completions",
  ]);
  expect(sent.map(({ init }) => new Headers(init.headers).get("authorization"))).toEqual([
    "Bearer us-key",
    "Bearer us-key",
    "Bearer own",
  ]);
  expect(new Headers(sent[0]?.init.headers).get("x-mine")).toBe("1");
  expect(gate.granted[0]?.endpoint).toBe("us");
});

test("no key of one host is shown to another", async () => {
  const elsewhere = { id: "us", baseURL: "https://us.example.com/v1" };
  const { limited, sent } = world([], { endpoints: [elsewhere], endpoint: "us" });
  const secrets = { authorization: "Bearer s", "x-api-key": "s", "api-key": "s", "x-goog-api-key": "s" };
  await limited(CHAT, { ...chat, headers: secrets });
  expect([...new Headers(sent[0]?.init.headers)]).toEqual([]);
  await limited(`${CHAT}?key=s&a=%20b&access_token=s`, chat);
  expect(sent[1]?.url).toBe("https://us.example.com/v1/chat/completions?a=+b");
});

test("a refused request moves on to the next endpoint of its route without a wait", async () => {
  const { gate, limited, sent } = world([tooMany({ "retry-after": "50" })], {
    endpoints: [eu, us],
    endpoint: ["eu", "us"],
  });
  expect((await limited(CHAT, chat)).status).toBe(200);
  expect(sent.map(({ url, at }) => [new URL(url).host, at])).toEqual([
    ["eu.example.com", 0],
    ["us.example.com", 0],
  ]);
  expect(gate.granted.map(({ endpoint }) => endpoint)).toEqual(["eu", "us"]);
});

test("the next endpoint serves a call when one requests too long a wait or has no quota; a request too large for one is too large for all", async () => {
  const spent = json(429, { error: { code: "insufficient_quota" } });
  const tooLarge = json(413, { error: { message: "Request too large" } });
  for (const [refusal, status, hosts] of [
    [tooMany({ "retry-after": "3600" }), 200, ["eu.example.com", "us.example.com"]],
    [spent, 200, ["eu.example.com", "us.example.com"]],
    [tooLarge, 413, ["eu.example.com"]],
  ] as const) {
    const { limited, sent } = world([refusal], { endpoints: [eu, us], endpoint: ["eu", "us"] });
    expect((await limited(CHAT, chat)).status).toBe(status);
    expect(sent.map(({ url }) => new URL(url).host)).toEqual(hosts);
  }
});

test("when all endpoints of a route have refused, all of them are asked again", async () => {
  const { clock, gate, limited } = world([tooMany(), tooMany()], { endpoints: [eu, us], endpoint: ["eu", "us"] });
  const answer = limited(CHAT, chat);
  await clock.run(10_000);
  expect((await answer).status).toBe(200);
  expect(gate.granted.map(({ request }) => request.route ?? request.endpoint)).toEqual([
    ["eu", "us"],
    "us",
    ["eu", "us"],
  ]);
});

test("maxRetries of 0 means no retries, also with another endpoint in the route", async () => {
  const { limited, sent } = world([tooMany()], { endpoints: [eu, us], endpoint: ["eu", "us"], maxRetries: 0 });
  expect((await limited(CHAT, chat)).status).toBe(429);
  expect(sent).toHaveLength(1);
});

test("a reader that stops while it waits for more ends the lease once, and as not whole", async () => {
  const start = `data: ${JSON.stringify({ message: { usage: { input_tokens: 30, output_tokens: 1 } } })}\n\n`;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
  });
  const answer = new Response(source as Body, { headers: { "content-type": "text/event-stream" } });
  const { gate, limited } = world([answer]);
  const endings: unknown[] = [];
  const { acquire } = gate;
  gate.acquire = async (request) => {
    const lease = await acquire.call(gate, request);
    return { ...lease, done: (used) => void endings.push(used) };
  };
  const reader = (await limited(MESSAGES, post({ model: "claude", stream: true }))).body?.getReader();
  await reader?.read();
  const waiting = reader?.read();
  // The read has reached the source.
  await new Promise(setImmediate);
  await reader?.cancel();
  expect(await waiting).toMatchObject({ done: true });
  await new Promise(setImmediate);
  expect(endings).toEqual([{ tokens: 31, inputTokens: 30, outputTokens: 1 }]);
});

test("the limits in headers of answers and of refusals reach the gate", async () => {
  const limits = {
    "x-ratelimit-limit-requests": "5000",
    "x-ratelimit-remaining-requests": "4999",
    "x-ratelimit-reset-requests": "12ms",
  };
  const { clock, gate, limited } = world([json(200, {}, limits), tooMany(limits)]);
  await limited(CHAT, chat);
  const again = limited(CHAT, chat);
  await clock.run(1_000);
  await again;
  const seen = {
    endpoint: "openai",
    model: "gpt",
    sentAgoMs: 0,
    limits: { requests: { limit: 5_000, remaining: 4_999, resetMs: 12, windowMs: 60_000 } },
  };
  expect(gate.observed).toEqual([seen, seen]);
});

test("a late answer counts from the time when its request was sent", async () => {
  const { clock, gate } = world([]);
  const answer = json(200, {}, { "x-ratelimit-limit-requests": "5000", "x-ratelimit-remaining-requests": "4999" });
  const slow: typeof fetch = async () => {
    clock.advance(7_000);
    return answer;
  };
  await createLimitedFetch(gate, { clock, fetch: slow })(CHAT, chat);
  expect(gate.observed).toMatchObject([{ sentAgoMs: 7_000 }]);
});

test("a gate that fails to observe harms nobody, and one without observe is fine", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error & { code?: string }) => warnings.push(String(warning.code));
  process.on("warning", onWarning);
  const { gate } = world([]);
  const failing: Gate = {
    acquire: (request) => gate.acquire(request),
    observe: (_: LimitObservation) => {
      throw new Error("mine");
    },
  };
  const fetch = (async () => json(200, {}, { "x-ratelimit-limit-requests": "5" })) as typeof globalThis.fetch;
  for (const one of [failing, { acquire: failing.acquire }]) {
    const limited = createLimitedFetch(one, { fetch });
    expect((await limited(CHAT, chat)).status).toBe(200);
    expect((await limited(CHAT, chat)).status).toBe(200);
  }
  await new Promise(setImmediate);
  process.off("warning", onWarning);
  expect(warnings).toEqual(["HIVEPACE_GATE_FAILED"]);
});

test("an error in a stream is announced once and at once, and what came before it reaches the caller", async () => {
  const { gate, limited } = world([
    events(
      { type: "message_start", message: { usage: { input_tokens: 3 } } },
      { type: "error", error: { type: "overloaded_error" } },
      { after: 1 },
    ),
  ]);
  const refusals: unknown[] = [];
  const { acquire } = gate;
  gate.acquire = async (request) => {
    const lease = await acquire.call(gate, request);
    return { ...lease, refused: (refusal) => void refusals.push(refusal), done: () => void refusals.push("done") };
  };
  const text = await (await limited(MESSAGES, post({ model: "claude", stream: true }))).text();
  expect(text).toContain("message_start");
  expect(refusals).toEqual([{ reason: "200 overloaded", retryAfterMs: undefined, kind: "overload" }]);
});

test("errors of the gate that are no lack of capacity are the caller's", async () => {
  const { gate, limited } = world([]);
  await gate.close();
  await expect(limited(CHAT, chat)).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
});

test("the response names its endpoint", async () => {
  const answered = json(200, {});
  Object.defineProperty(answered, "url", { value: CHAT });
  const { limited } = world([answered]);
  expect((await limited(CHAT, chat)).url).toBe(CHAT);
});

test.each([
  ["maxRetries", { maxRetries: -1 }],
  ["maxRetries", { maxRetries: 1.5 }],
  ["timeoutMs", { timeoutMs: -1 }],
  ["timeoutMs", { timeoutMs: Number.NaN }],
  ["baseDelayMs", { baseDelayMs: 0 }],
  ["maxDelayMs", { maxDelayMs: "1" }],
  ["endpoint", { endpoint: [] }],
  ["endpoint", { endpoint: 5 }],
  ["key", { key: 5 }],
  ["session", { session: {} }],
  ["priority", { priority: Number.NaN }],
  ["estimate", { estimate: 5 }],
  ["random", { random: 0.5 }],
  ["fetch", { fetch: "x" }],
  ["endpoints", { endpoints: {} }],
  ["endpoints[].id", { endpoints: [{ id: "" }] }],
  ["endpoints[].id", { endpoints: [{ id: "a" }, { id: "a" }] }],
  ["endpoints[].baseURL", { endpoints: [{ id: "a", baseURL: "ftp://x" }] }],
  ["endpoints[].apiKey", { endpoints: [{ id: "a", apiKey: 5 }] }],
])("an invalid %s is refused by name", (option, options) => {
  const { gate } = world([]);
  expect(() => createLimitedFetch(gate, options as LimitedFetchOptions)).toThrow(
    expect.objectContaining({ code: "INVALID_CONFIG", option }),
  );
  expect(() => createLimitedFetch({} as Gate)).toThrow(expect.objectContaining({ option: "gate" }));
});
