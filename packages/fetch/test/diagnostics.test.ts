import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { DiagnosticEvents, SendingEvent } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { hear } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";
import { LocalGate } from "./support/local-gate.ts";

const CHAT = "https://api.openai.com/v1/chat/completions";
const chat = { method: "POST", body: JSON.stringify({ model: "gpt", messages: [] }) };

function world(answer: (times: number) => Promise<Response>) {
  const clock = new ManualClock();
  const gate = new LocalGate({ clock });
  let times = 0;
  const send = (): Promise<Response> => answer(times++);
  return { clock, limited: createLimitedFetch(gate, { clock, random: () => 0, fetch: send as typeof fetch }) };
}

const refusal = () => new Response('{"error":{"type":"rate_limit_error"}}', { status: 429 });

test("each attempt and its outcome are published", async () => {
  using heard = hear<DiagnosticEvents>(["hivepace:sending", "hivepace:sent"]);
  const { clock, limited } = world(async (times) => (times === 0 ? refusal() : Response.json({})));
  const call = limited(CHAT, chat);
  await clock.run(60_000);
  await call;

  const of = { resource: "openai", model: "gpt", provider: "openai", lease: expect.any(Object) };
  const anyCall = expect.any(Object);
  expect(heard.all.map(({ name, event }) => [name, event])).toEqual([
    ["hivepace:sending", { ...of, retries: 0, delayMs: 0, moves: 0, call: anyCall, within: expect.any(Function) }],
    [
      "hivepace:sent",
      {
        ...of,
        retries: 0,
        call: anyCall,
        durationMs: 0,
        outcome: "refused",
        refusal: "rate_limited",
        error: undefined,
      },
    ],
    ["hivepace:sending", { ...of, retries: 1, delayMs: 250, moves: 0, call: anyCall, within: expect.any(Function) }],
    [
      "hivepace:sent",
      { ...of, retries: 1, call: anyCall, durationMs: 0, outcome: "answered", refusal: undefined, error: undefined },
    ],
  ]);
  const [first, second] = heard.of("hivepace:sending");
  expect(heard.of("hivepace:sent").map((event) => event.call)).toEqual([first?.call, second?.call]);
  expect(first?.call).not.toBe(second?.call);
});

test("a lost request is published as failed, and the caller gets its error", async () => {
  using heard = hear<DiagnosticEvents>(["hivepace:sent"]);
  const lost = new Error("lost");
  const { limited } = world(() => Promise.reject(lost));
  await expect(limited(CHAT, chat)).rejects.toBe(lost);
  expect(heard.of("hivepace:sent")).toMatchObject([{ outcome: "failed", error: lost }]);
});

test("a listener can have it sent within a context of its own, and several can", async () => {
  const contexts = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
  const bind = (event: unknown): void => {
    for (const [i, context] of contexts.entries())
      (event as SendingEvent).within((send) => context.run(`${(event as SendingEvent).resource} ${i}`, send));
  };
  subscribe("hivepace:sending", bind);
  const seen: unknown[] = [];
  const { limited } = world(async () => {
    seen.push(...contexts.map((context) => context.getStore()));
    return Response.json({});
  });
  try {
    expect((await limited(CHAT, chat)).status).toBe(200);
  } finally {
    unsubscribe("hivepace:sending", bind);
  }
  expect(seen).toEqual(["openai 0", "openai 1"]);
});
