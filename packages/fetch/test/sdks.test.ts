import { fork } from "node:child_process";
import { once } from "node:events";
import { createOpenAI } from "@ai-sdk/openai";
import { Anthropic } from "@anthropic-ai/sdk";
import { type Clock, systemClock } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import { until } from "@hivepace/test-kit";
import { generateText, wrapLanguageModel } from "ai";
import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hivepaceMiddleware as modelMiddleware } from "../src/ai-sdk.ts";
import { hivepaceMiddleware as anthropicMiddleware } from "../src/anthropic.ts";
import { createLimitedFetch } from "../src/index.ts";
import { bundledCallers } from "./support/callers.ts";
import { ANSWER, type Client, clientsOf, names, PROMPT } from "./support/clients.ts";
import { lendGate } from "./support/gate-of-parent.ts";
import { LocalGate } from "./support/local-gate.ts";
import { collect } from "./support/streams.ts";

const WINDOW_MS = 500;
const RPM = 40;

let provider: FakeProvider;
let gate: LocalGate;
let clock: Clock;

beforeEach(() => start(systemClock, {}));
afterEach(stop);

async function start(time: Clock, limits: { readonly rpm?: number; readonly tpm?: number }): Promise<void> {
  clock = time;
  provider = await startProvider({ clock, windowMs: WINDOW_MS, latencyMs: 2, ...limits });
  gate = new LocalGate({ clock, windowMs: WINDOW_MS, ...limits });
}

async function stop(): Promise<void> {
  await gate.close();
  await provider.close();
}

/**
 * Gate and provider on one clock, which moves on only when all that the gate let through has arrived: what lies between
 * them takes no time, however busy the machine is.
 */
async function inOneTime<T>(
  limits: { readonly rpm?: number; readonly tpm?: number },
  work: () => Promise<T>,
): Promise<T> {
  await stop();
  const time = new ManualClock();
  await start(time, limits);
  let isOver = false;
  const result = work().finally(() => {
    isOver = true;
  });
  result.catch(() => undefined);
  const hasArrived = () => provider.log.length === gate.granted.length && time.pending > 0;
  while (!isOver) {
    await until(() => isOver || hasArrived(), "all calls have arrived");
    if (!isOver) time.advance((time.nextDueAt ?? time.now()) - time.now());
  }
  return result;
}

const clients = () => clientsOf({ gate, url: provider.url, clock });
const clientOf = (name: string): Client => clients().find((client) => client.name === name) as Client;

test("every client has its tests", () => {
  expect(clients().map(({ name }) => name)).toEqual(names);
});

describe.each(names)("%s", (name) => {
  test("an answer arrives whole, and its usage is settled", async () => {
    const { ask, stream } = clientOf(name);
    expect([await ask(), await stream()]).toEqual([ANSWER, ANSWER]);
    const counted = provider.log.map(({ tokens }) => tokens);
    const isGemini = name === "@google/genai";
    expect(gate.endings).toMatchObject(
      counted.map((tokens) => ({ how: "done", used: isGemini ? { inputTokens: tokens - 16 } : { tokens } })),
    );
    expect(gate.granted.map(({ request }) => request.model)).toEqual(provider.log.map(({ model }) => model));
  });

  test("fifty calls at once stay within the limit, and none fails", async () => {
    const answers = await inOneTime({ rpm: RPM }, () => {
      const { ask } = clientOf(name);
      return Promise.all(Array.from({ length: 50 }, () => ask()));
    });
    expect(new Set(answers)).toEqual(new Set([ANSWER]));
    expect(provider.log.filter(({ accepted }) => !accepted)).toEqual([]);
    expect(provider.largestWindow().requests).toBeLessThanOrEqual(RPM);
    expect(provider.log).toHaveLength(50);
  });

  test("a 429 is announced once, waited for and sent again; the SDK does not notice", async () => {
    const { ask, stream } = clientOf(name);
    provider.failNext("rate-limited");
    expect(await ask()).toBe(ANSWER);
    provider.failNext("overloaded");
    expect(await stream()).toBe(ANSWER);
    expect(gate.endings.map((ending) => (ending?.how === "refused" ? ending.refusal.kind : ending?.how))).toEqual([
      "limit",
      "done",
      "overload",
      "done",
    ]);
    expect(provider.log.map(({ retryCount }) => retryCount)).toEqual([0, 0, 0, 0]);
  });

  test("a refusal that does not pass by waiting is not retried, neither by Hivepace nor by an SDK with a retry option", async () => {
    const { ask, retries } = clientOf(name);
    provider.failNext("spent", "spent", "spent", "spent");
    await expect(ask(retries === "set" ? 0 : undefined)).rejects.toThrow();
    expect(provider.log).toHaveLength(1);
    expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "quota" } }]);
  });

  test("an overload in the middle of a stream is announced", async () => {
    provider.failNext("overloaded-mid-stream");
    const { stream, retries } = clientOf(name);
    await stream(retries === "set" ? 0 : undefined).catch(() => undefined);
    expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "overload" } }]);
  });
});

test("fifty calls at once stay within the limit of tokens as well", async () => {
  await inOneTime({ tpm: 1_500 }, () => {
    const fetch = createLimitedFetch(gate, { endpoint: "provider", clock });
    const openai = new OpenAI({ apiKey: "k", baseURL: `${provider.url}/v1`, fetch });
    const ask = (i: number) =>
      openai.chat.completions.create({
        model: "gpt-x",
        // More than comes, so that no estimate is too low before the first report.
        max_tokens: 48,
        messages: [{ role: "user", content: PROMPT.repeat(1 + (i % 5)) }],
      });
    return Promise.all(Array.from({ length: 50 }, (_, i) => ask(i)));
  });
  expect(provider.log.filter(({ accepted }) => !accepted)).toEqual([]);
  expect(provider.log.reduce((sum, { tokens }) => sum + tokens, 0)).toBeGreaterThan(2_000);
});

test("fifty calls at once in each of four processes stay within the limit, and none fails", async () => {
  const outfile = await bundledCallers("callers");
  const agents = ["a", "b", "c", "d"];
  const codes = await inOneTime({ rpm: RPM }, () =>
    Promise.all(
      agents.map(async (agent, i) => {
        const sdk = i % 2 === 0 ? "openai" : "anthropic";
        const child = fork(outfile, [sdk, agent, provider.url, "50"], { execArgv: ["--no-warnings"] });
        lendGate(child, gate);
        // The last message of a child may arrive after its exit.
        const [[code]] = await Promise.all([once(child, "exit"), once(child, "disconnect")]);
        return code as unknown;
      }),
    ),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(provider.log.filter(({ accepted }) => !accepted)).toEqual([]);
  expect(provider.largestWindow().requests).toBeLessThanOrEqual(RPM);
  for (const agent of agents) expect(provider.log.filter((sent) => sent.agent === agent)).toHaveLength(50);
  expect(gate.endings.map((ending) => ending?.how)).toEqual(Array.from({ length: 200 }, () => "done"));
});

test("a stream that tells no usage is settled with what was sent and what came", async () => {
  const fetch = createLimitedFetch(gate, { endpoint: "provider", estimate: () => ({ inputTokens: 7 }) });
  const openai = new OpenAI({ apiKey: "k", baseURL: `${provider.url}/v1`, fetch });
  const messages = [{ role: "user" as const, content: PROMPT }];
  const stream = await openai.chat.completions.create({ model: "gpt-x", messages, stream: true });
  expect(await collect(stream, (chunk) => chunk.choices[0]?.delta.content)).toBe(ANSWER);
  // Sixteen words, and the event with the stop reason.
  expect(gate.endings).toEqual([{ how: "done", used: { tokens: 24, inputTokens: 7, outputTokens: 17 } }]);
});

test.each(["openai", "anthropic"])(
  "%s: limits are learned from the first answer, and their changes and the use of others from the next",
  async (name) => {
    await stop();
    // A clock that stands still, so that nothing flows back between the calls.
    clock = new ManualClock();
    provider = await startProvider({ clock, window: "bucket", rpm: 60, tpm: 60_000 });
    gate = new LocalGate({ clock });
    const baseURL = `${provider.url}/v1`;
    const fetch = createLimitedFetch(gate, { clock, endpoints: [{ id: "provider", provider: name, baseURL }] });
    const messages = [{ role: "user" as const, content: PROMPT }];
    const openai = new OpenAI({ apiKey: "k", baseURL, fetch });
    const anthropic = new Anthropic({ apiKey: "k", baseURL: provider.url, fetch });
    const ask = () =>
      name === "openai"
        ? openai.chat.completions.create({ model: "gpt-x", messages })
        : anthropic.messages.create({ model: "claude-x", max_tokens: 64, messages });
    await ask();
    provider.setLimits({ rpm: 600, tpm: 30_000 });
    await ask();
    // Another client of the same account.
    const body = JSON.stringify({ model: "gpt-x", messages: [{ role: "user", content: "x".repeat(40_000) }] });
    await globalThis.fetch(`${baseURL}/chat/completions`, { method: "POST", body });
    await ask();
    const [first, second, third] = gate.observed.map(({ limits }) => limits);
    const windowMs = 60_000;
    expect(first).toMatchObject({ requests: { limit: 60, windowMs }, tokens: { limit: 60_000, windowMs } });
    expect(second).toMatchObject({ requests: { limit: 600, windowMs }, tokens: { limit: 30_000, windowMs } });
    expect(third?.tokens?.remaining).toBeLessThan((second?.tokens?.remaining ?? 0) - 10_000);
  },
);

test("a request that never left uses nothing: the AI SDK's middleware", async () => {
  await provider.close();
  const model = wrapLanguageModel({
    model: createOpenAI({ apiKey: "k", baseURL: `${provider.url}/v1` }).chat("gpt-x"),
    middleware: modelMiddleware(gate, { endpoint: "provider" }),
  });
  await expect(generateText({ model, prompt: PROMPT, maxRetries: 0 })).rejects.toThrow();
  expect(gate.endings).toMatchObject([{ how: "failed", failure: { wasSent: false, concerns: "endpoint" } }]);
});

test("a reader of the AI SDK's stream that stops while it waits ends the lease once, with what came", async () => {
  const ended: unknown[] = [];
  const { acquire } = gate;
  gate.acquire = async (request) => {
    const lease = await acquire.call(gate, request);
    return { ...lease, done: (used) => void ended.push(used) };
  };
  const source = new ReadableStream({
    start: (controller) => controller.enqueue({ type: "text-delta", id: "1", delta: "bee" }),
  });
  const { stream } = await modelMiddleware(gate, { estimate: () => ({ inputTokens: 5 }) }).wrapStream({
    model: { provider: "openai.chat", modelId: "gpt-x" },
    params: { prompt: [] },
    doStream: async () => ({ stream: source }),
  });
  const reader = stream.getReader();
  await reader.read();
  const waiting = reader.read();
  // The read has reached the source.
  await new Promise(setImmediate);
  await reader.cancel();
  await waiting;
  await new Promise(setImmediate);
  expect(ended).toEqual([{ tokens: 6, inputTokens: 5, outputTokens: 1 }]);
});

test("requests of the Anthropic SDK for its own credentials are not paced", async () => {
  const middleware = anthropicMiddleware(gate);
  const request = { url: "https://example.com/token" };
  expect(await middleware(request, async () => "a token", {})).toBe("a token");
  expect(gate.granted).toEqual([]);
});

test.each(["ai with @ai-sdk/openai", "@langchain/openai"])(
  "%s retries by default, as the table states",
  async (name) => {
    const retryable = { status: 429, headers: { "retry-after": "0" }, body: { error: { message: "spend limit" } } };
    provider.failNext(retryable, retryable);
    await clientOf(name)
      .ask(1)
      .catch(() => undefined);
    expect(provider.log.length).toBeGreaterThan(1);
  },
);
