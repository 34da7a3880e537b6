import { expect, test } from "vitest";
import { parseProviderSignal } from "../signal/parse-provider-signal.ts";
import { observationOf } from "./observation.ts";

const observe = (headers: Record<string, string>, provider?: string) =>
  observationOf(parseProviderSignal({ status: 200, headers, now: Date.UTC(2026, 10, 16) }), {
    endpoint: "e",
    model: "m",
    provider,
  })?.limits;

test("the limits of an answer are passed on, with the window that they imply", () => {
  const headers = {
    "x-ratelimit-limit-requests": "1000",
    "x-ratelimit-remaining-requests": "995",
    "x-ratelimit-reset-requests": "7m12s",
    "x-ratelimit-limit-tokens": "8000",
    "x-ratelimit-remaining-tokens": "7923",
    "x-ratelimit-reset-tokens": "577ms",
  };
  expect(observe(headers)).toEqual({
    requests: { limit: 1_000, remaining: 995, resetMs: 432_000, windowMs: 86_400_000 },
    tokens: { limit: 8_000, remaining: 7_923, resetMs: 577, windowMs: 60_000 },
  });
});

test("where the documentation names the window, it need not be inferred", () => {
  const anthropic = { "anthropic-ratelimit-input-tokens-limit": "50000", "anthropic-ratelimit-requests-limit": "50" };
  expect(observe(anthropic, "anthropic")).toEqual({
    input_tokens: { limit: 50_000, windowMs: 60_000 },
    requests: { limit: 50, windowMs: 60_000 },
  });
  const openai = { "x-ratelimit-limit-tokens": "50000", "x-ratelimit-limit-requests": "50" };
  expect(observe(openai, "openai")).toEqual({ tokens: { limit: 50_000, windowMs: 60_000 }, requests: { limit: 50 } });
  expect(observe(openai, "someone")).toEqual({ tokens: { limit: 50_000 }, requests: { limit: 50 } });
});

test("0 and -1 are not limits", () => {
  expect(observe({ "x-ratelimit-limit-req-minute": "0" })).toBeUndefined();
  expect(observe({ "x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1" })).toBeUndefined();
});

test("a remaining amount counts also without a limit, and a remaining amount of 0 is not absent", () => {
  expect(observe({ "x-ratelimit-remaining-requests": "0" })).toEqual({ requests: { remaining: 0 } });
});

test("of two limits on one dimension the one with less left counts", () => {
  const headers = {
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-tokens": "149000",
    "x-ratelimit-limit-project-tokens": "60000",
    "x-ratelimit-remaining-project-tokens": "57000",
  };
  expect(observe(headers)?.tokens).toMatchObject({ limit: 60_000 });
  expect(observe({ ...headers, "x-ratelimit-remaining-tokens": "100" })?.tokens).toMatchObject({ limit: 150_000 });
});

test("policies count by their unit; dimensions that the hive does not count are left out", () => {
  const headers = {
    "ratelimit-policy": '"a";q=100;w=60, "b";q=9;w=60;qu="concurrent-requests", "c";q=500;w=60;qu="tokens"',
    ratelimit: '"a";r=60;t=58, "b";r=1, "c";r=400',
  };
  expect(observe(headers)).toEqual({
    requests: { limit: 100, remaining: 60, resetMs: 58_000, windowMs: 60_000 },
    tokens: { limit: 500, remaining: 400, windowMs: 60_000 },
  });
  expect(observe({ "anthropic-priority-input-tokens-limit": "5" })).toBeUndefined();
  expect(observe({})).toBeUndefined();
});
