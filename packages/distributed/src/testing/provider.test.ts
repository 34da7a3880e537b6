import { seededRandom } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import type { Limits } from "./options.ts";
import { Provider } from "./provider.ts";
import { type ProviderOptions, providerDefaults } from "./provider-options.ts";
import type { Call } from "./world.ts";

const MINUTE = 60_000;

function provider(options: Partial<ProviderOptions>, limits: Limits = { requests: 10, tokens: 1_000 }) {
  return new Provider({ ...providerDefaults, ...options }, limits, MINUTE, seededRandom(1));
}

function call(expected: number, actual = expected): Call {
  const tokens = { expected, actual };
  const more = { endpoint: undefined, key: undefined, givesUpAt: Infinity, sentTo: 0, sentAt: 0, tries: 0 };
  return { agent: 0, arrivedAt: 0, expected: [1, expected], actual: [1, actual], tokens, ...more };
}

test.each<[ProviderOptions["countsTokens"], left: readonly [started: number, ended: number]]>([
  ["actual-at-start", [900, 900]],
  ["estimate-at-start", [600, 600]],
  ["usage-at-end", [1_000, 900]],
])("%s: what is left after the start and after the end of a call", (countsTokens, left) => {
  const subject = provider({ countsTokens, headers: true });
  const one = call(400, 100);
  const remaining = () => subject.headers(0)?.tokens?.remaining;
  expect(subject.begin(one, 0)).toEqual({ outcome: "accepted" });
  const started = remaining();
  subject.end(one, 5_000);
  expect([started, remaining()]).toEqual(left);
});

test("with counting at the end, calls are refused when the limit is used up, and not before", () => {
  const subject = provider({ countsTokens: "usage-at-end" });
  const [first, second] = [call(10, 999), call(10, 500)];
  expect([subject.begin(first, 0), subject.begin(second, 0)].map(({ outcome }) => outcome)).toEqual([
    "accepted",
    "accepted",
  ]);
  subject.end(first, 1_000);
  expect(subject.begin(call(10), 1_000).outcome).toBe("accepted");
  subject.end(second, 1_000);
  expect(subject.begin(call(10), 1_000).outcome).toBe("refused");
});

test("a sub-window allows its part of the limit, and one call at least", () => {
  const subject = provider({ subWindowMs: 10_000 }, { requests: 12 });
  const outcomes = [0, 0, 0, 9_999, 10_000].map((now) => subject.begin({ ...call(0), actual: [1] }, now).outcome);
  expect(outcomes).toEqual(["accepted", "accepted", "refused", "refused", "accepted"]);
  const rare = provider({ subWindowMs: 1_000 }, { requests: 6 });
  expect([0, 999, 1_000].map((now) => rare.begin({ ...call(0), actual: [1] }, now).outcome)).toEqual([
    "accepted",
    "refused",
    "accepted",
  ]);
});

test("a refused call counts as a request only where the provider says so", () => {
  for (const countsRefused of [false, true]) {
    const subject = provider({ countsRefused, headers: true, retryAfterMs: 3_000 });
    expect(subject.begin(call(2_000), 0)).toEqual({ outcome: "refused", retryAfterMs: 3_000 });
    expect(subject.headers(0)?.requests?.remaining).toBe(countsRefused ? 9 : 10);
  }
});

test("no more calls are in flight than the provider runs at a time", () => {
  const subject = provider({ maxInFlight: 2 });
  const [first] = [call(1)];
  subject.begin(first as Call, 0);
  subject.begin(call(1), 0);
  expect(subject.begin(call(1), 0).outcome).toBe("refused");
  subject.end(first as Call, 1);
  expect(subject.begin(call(1), 1).outcome).toBe("accepted");
});

test("errors and overload occur at their configured rates, and count nothing", () => {
  const subject = provider(
    { failures: { errors: 0.2, overloads: 0.1, retryAfterMs: 7 }, headers: true },
    { requests: 1e9 },
  );
  const seen = { accepted: 0, refused: 0, failed: 0, overloaded: 0 };
  for (let i = 0; i < 10_000; i++) {
    const { outcome, retryAfterMs } = subject.begin({ ...call(0), actual: [1] }, 0);
    seen[outcome]++;
    expect(retryAfterMs).toBe(outcome === "overloaded" ? 7 : undefined);
  }
  expect(seen.failed / 10_000).toBeCloseTo(0.2, 1);
  expect(seen.overloaded / 10_000).toBeCloseTo(0.1, 1);
  expect(seen.refused).toBe(0);
  expect(subject.headers(0)?.requests?.remaining).toBe(1e9 - seen.accepted);
});

test.each([true, false])(
  "an exhausted quota refuses all calls until its window ends, and states the time: %j",
  (tellsWait) => {
    const quota = { tokens: 500, windowMs: 3_600_000, used: 0.9, tellsWait };
    const subject = provider({ quota, headers: true }, { requests: 10 });
    const one = { ...call(40), actual: [1] };
    subject.begin(one, 0);
    subject.end(one, 0);
    expect(subject.headers(0)?.tokens).toMatchObject({ limit: 500, remaining: 10, windowMs: 3_600_000 });
    subject.begin(one, 1);
    subject.end(one, 1);
    expect(subject.begin(one, 2)).toEqual({
      outcome: "refused",
      isQuota: true,
      retryAfterMs: tellsWait ? 2_400_000 - 2 : undefined,
    });
    expect(subject.begin(one, 2_400_000).outcome).toBe("accepted");
  },
);

test("headers follow the provider's allowance", () => {
  const subject = provider({ headers: true });
  subject.setFactor(0.5);
  expect(subject.headers(0)).toMatchObject({ requests: { limit: 5, remaining: 5 }, tokens: { limit: 500 } });
  expect(provider({}).headers(0)).toBeUndefined();
});

test("accepted calls take their processing time, all other answers arrive at once", () => {
  const subject = provider({ latencyMs: [150, 150], callMs: { median: 8_000, sigma: 1, from: 1_000, to: 120_000 } });
  const random = () => 0.5;
  const times = Array.from({ length: 2_000 }, () => subject.answerMs({ outcome: "accepted" }, random)).sort(
    (a, b) => a - b,
  );
  expect(times[0]).toBeGreaterThanOrEqual(1_000);
  expect(times.at(-1)).toBeLessThanOrEqual(120_000);
  expect((times[1_000] as number) / 8_000).toBeCloseTo(1, 0);
  expect(subject.answerMs({ outcome: "refused" }, random)).toBe(150);
});
