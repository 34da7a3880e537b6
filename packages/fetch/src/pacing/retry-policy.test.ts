import fc from "fast-check";
import { expect, test } from "vitest";
import type { RefusalClass } from "../signal/provider-signal.ts";
import { retryDelayMs } from "./retry-policy.ts";

const policy = { maxRetries: 4, baseDelayMs: 500, maxDelayMs: 60_000 };
const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("only transient errors are retried, and only up to the maximum", () => {
  const classes: (RefusalClass | undefined)[] = [
    "rate_limited",
    "ramp_limited",
    "overloaded",
    "quota_window_long",
    "quota_exhausted",
    "not_entitled",
    "request_too_large",
    undefined,
  ];
  const isTried = (refusal: RefusalClass | undefined, retries: number) =>
    retryDelayMs({ dims: {}, ...(refusal === undefined ? {} : { class: refusal }) }, retries, policy, 0) !== undefined;
  expect(classes.map((refusal) => isTried(refusal, 0))).toEqual([true, true, true, false, false, false, false, false]);
  expect([3, 4, 5].map((retries) => isTried("overloaded", retries))).toEqual([true, false, false]);
});

test("a wait that the provider asks for is never shortened, gets little jitter, and is not waited for when it is too long", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120_000 }), fraction, fc.nat(3), (cooldownMs, random, retries) => {
      const delay = retryDelayMs({ dims: {}, class: "rate_limited", cooldownMs }, retries, policy, random);
      if (cooldownMs > 60_000) expect(delay).toBeUndefined();
      else {
        expect(delay).toBeGreaterThanOrEqual(cooldownMs);
        expect(delay).toBeLessThanOrEqual(cooldownMs * 1.1);
      }
    }),
  );
});

test("without a word from the provider waits double, between a half and the whole, up to the most", () => {
  const delay = (retries: number, random: number) =>
    retryDelayMs({ dims: {}, class: "overloaded" }, retries, { ...policy, maxRetries: 99 }, random);
  expect([0, 1, 2, 3].map((retries) => delay(retries, 0))).toEqual([250, 500, 1_000, 2_000]);
  expect(delay(0, 0.5)).toBe(375);
  expect(delay(50, 0)).toBe(30_000);
});
