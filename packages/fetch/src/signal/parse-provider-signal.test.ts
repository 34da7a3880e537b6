import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { parseProviderSignal } from "./parse-provider-signal.ts";
import type { ProviderSignal } from "./provider-signal.ts";

interface Case {
  readonly id: string;
  readonly provider: string;
  /** The public page that shows the answer, or documents what the answer was made after. */
  readonly source: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
  readonly expect: ProviderSignal;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../test/fixtures/${name}`, import.meta.url), "utf8")) as {
    now: string;
    cases: Case[];
  };
const { now, cases: given } = read("provider-signals.json");
const cases = [...given, ...read("more-provider-signals.json").cases];

const zoneOfTheRun = process.env["TZ"];
afterEach(() => {
  if (zoneOfTheRun === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zoneOfTheRun;
});

describe.each([
  ["UTC", 0],
  ["America/Los_Angeles", 480],
  ["Asia/Kolkata", -330],
  ["Pacific/Chatham", -825],
])("in %s", (zone, offset) => {
  test.each(cases)("$id", ({ status, headers, body, expect: expected }) => {
    process.env["TZ"] = zone;
    expect(new Date(now).getTimezoneOffset()).toBe(offset);
    expect(parseProviderSignal({ status, headers, body, now: Date.parse(now) })).toStrictEqual(expected);
  });
});

test.each(cases)(
  "$id, however its headers and body are given",
  ({ status, headers, body, provider, expect: expected }) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const isAscii = /^[\x20-\x7e]*$/.test(Object.values(headers).join(""));
    const waysOfHeaders = [
      Object.entries(headers),
      new Map(Object.entries(headers)),
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      ...(isAscii ? [new Headers(headers)] : []),
    ];
    for (const given of waysOfHeaders)
      for (const given2 of [text, text === undefined ? undefined : new TextEncoder().encode(text)])
        for (const at of [now, new Date(now)])
          expect(parseProviderSignal({ status, headers: given, body: given2, now: at, provider })).toStrictEqual(
            expected,
          );
  },
);

test("every case cites a public page", () => {
  for (const { source } of cases) expect(new URL(source).protocol).toBe("https:");
});

test("a field that is given twice counts as one list", () => {
  const headers = [
    ["Retry-After", "5"],
    ["retry-after", "30"],
    ["llm_provider-x-ratelimit-limit-tokens", "100"],
    ["llm_provider-X-RateLimit-Limit-Tokens", "60"],
  ];
  expect(parseProviderSignal({ status: 429, headers })).toMatchObject({
    retryAfterMs: 30_000,
    dims: { tokens: { limit: 60 } },
  });
});

/** Numbers that a program may calculate with, and nothing else. */
function isSane(signal: ProviderSignal): void {
  const numbers = [signal.retryAfterMs, signal.cooldownMs];
  for (const dim of Object.values(signal.dims)) {
    const { unit, ...rest } = dim;
    numbers.push(...Object.values(rest));
    expect(unit === undefined || typeof unit === "string").toBe(true);
    expect(dim.limit ?? dim.remaining ?? dim.utilization).toBeDefined();
    if (dim.windowMs !== undefined) expect(dim.windowMs).toBeGreaterThan(0);
  }
  for (const number of numbers) {
    if (number === undefined) continue;
    expect(Number.isFinite(number) && number >= 0 && number <= Number.MAX_SAFE_INTEGER).toBe(true);
  }
  for (const ms of [signal.retryAfterMs, signal.cooldownMs])
    if (ms !== undefined) expect(Number.isInteger(ms)).toBe(true);
  if (signal.cooldownMs !== undefined) expect(signal.cooldownMs).toBeGreaterThan(0);
  for (const name of signal.exhausted ?? []) expect(Object.keys(signal.dims)).toContain(name);
}

const knownNames = [...new Set(cases.flatMap(({ headers }) => Object.keys(headers)))];
const knownValues = [...new Set(cases.flatMap(({ headers }) => Object.values(headers)))];
const oddValues = [
  "-1",
  "0",
  "1e400",
  "NaN",
  "Infinity",
  "0x10",
  "",
  " ",
  "9".repeat(400),
  "1,",
  ",",
  '"',
  "1;w=",
  "=",
  "\0",
  "9999999999999",
];
const anyValue = fc.oneof(
  fc.string(),
  fc.constantFrom(...knownValues, ...oddValues),
  fc.integer().map(String),
  fc.double().map(String),
);
const anyHeaders = fc.oneof(
  fc.dictionary(fc.oneof(fc.constantFrom(...knownNames, "__proto__", "constructor"), fc.string()), anyValue),
  fc.anything(),
);
const anyBody = fc.oneof(fc.anything(), fc.json(), fc.constantFrom(...cases.map(({ body }) => body)), fc.string());

test("no garbage makes it throw, or becomes a number that no provider can mean", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(200, 429, 503, 529, 413, 400), fc.anything()),
      anyHeaders,
      anyBody,
      fc.anything(),
      (status, headers, body, at) => {
        isSane(parseProviderSignal({ status, headers, body, now: at } as Parameters<typeof parseProviderSignal>[0]));
      },
    ),
    { numRuns: 1_500 },
  );
});

test("a mutilated message of a provider neither throws nor lies about numbers", () => {
  const texts = cases.flatMap(({ body }) => (body === undefined ? [] : [JSON.stringify(body)]));
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.nat(), fc.nat(), fc.string(), (text, from, length, garbage) => {
      const start = from % text.length;
      const body = text.slice(0, start) + garbage + text.slice(start + (length % 20));
      isSane(parseProviderSignal({ status: 429, headers: {}, body }));
    }),
    { numRuns: 2_000 },
  );
});

test("a header or body that throws when it is read is ignored", () => {
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error("mine");
      },
      ownKeys: () => {
        throw new Error("mine");
      },
    },
  );
  expect(parseProviderSignal({ status: 429, headers: trap, body: trap })).toEqual({ dims: {} });
});

test("a very long text is read quickly, whatever is in it", () => {
  const long = "retry after ".repeat(100_000) + "1 ".repeat(100_000);
  expect(
    parseProviderSignal({ status: 429, headers: { "retry-after": long, ratelimit: '"'.repeat(8_000) }, body: long }),
  ).toMatchObject({
    class: "rate_limited",
  });
});

test("without a time, points in time refer to the wall clock", () => {
  const reset = new Date(Date.now() + 3_600_000).toISOString();
  const headers = { "anthropic-ratelimit-requests-limit": "5", "anthropic-ratelimit-requests-reset": reset };
  const { resetMs = 0 } = parseProviderSignal({ status: 200, headers }).dims["requests"] ?? {};
  expect(resetMs).toBeGreaterThan(3_500_000);
  expect(resetMs).toBeLessThanOrEqual(3_600_000);
});
