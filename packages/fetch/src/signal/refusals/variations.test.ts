import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DocumentedRefusal, documentedRefusals } from "../../../test/fixtures/documented-refusals.ts";
import { refusals } from "../../../test/fixtures/refusals.ts";
import { parseProviderSignal } from "../parse-provider-signal.ts";

const now = Date.parse("2026-11-16T00:00:00.000Z");
const cases = refusals.filter(({ body }) => typeof body === "object");

const outcome = ({ status, headers }: DocumentedRefusal, body: unknown) => {
  const { class: refusal, retryAfterMs } = parseProviderSignal({ status, headers: headers ?? {}, body, now });
  return { class: refusal, retryAfterMs };
};

/** Wrappers that proxies, frameworks and SDKs put around an answer of a provider. */
const WRAPPERS: Readonly<Record<string, (body: unknown) => unknown>> = {
  "as text": (body) => JSON.stringify(body),
  "as indented text with white space around it": (body) => `\n  ${JSON.stringify(body, null, 2)}\n`,
  "as bytes": (body) => new TextEncoder().encode(JSON.stringify(body)),
  "in a list": (body) => [body],
  "in a message": (body) => ({ error: { message: JSON.stringify(body) } }),
  "in a detail": (body) => ({ detail: body }),
  "in a detail as text": (body) => ({ detail: JSON.stringify(body) }),
  "in a list of errors": (body) => ({ success: false, errors: [body] }),
  "in the data of an error": (body) => ({ data: { error: body } }),
  "in the body of a gateway's answer": (body) => ({ statusCode: 502, body: JSON.stringify({ error: body }) }),
  "as an event of a stream": (body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
  "behind OpenRouter": (body) => ({ error: { message: "Provider returned error", metadata: { raw: body } } }),
  "as the fault of a gateway": (body) => ({ fault: body }),
  "behind the words of a proxy": (body) => ({
    error: { message: `Upstream error: ${JSON.stringify(body)}, giving up` },
  }),
  "as one of several events": (body) => `: ping\n\nid: 7\nevent: error\ndata: ${JSON.stringify({ error: body })}\n\n`,
  "as the first of several documents": (body) => `${JSON.stringify(body)}\n{"done":true}`,
  "quoted twice": (body) => JSON.stringify(JSON.stringify(body)),
};

describe.each(Object.entries(WRAPPERS))("%s", (_name, wrap) => {
  test.each(cases)("$name", (one) => {
    expect(outcome(one, wrap(one.body))).toEqual({ class: one.class, retryAfterMs: one.retryAfterMs });
  });
});

test.each(cases)("numbers as text and text as numbers: $name", (one) => {
  const swap = (value: unknown): unknown => {
    if (typeof value === "number") return String(value);
    if (typeof value === "string" && /^\d{1,6}$/.test(value)) return Number(value);
    if (Array.isArray(value)) return value.map(swap);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, swap(inner)]));
  };
  expect(outcome(one, swap(one.body))).toEqual({ class: one.class, retryAfterMs: one.retryAfterMs });
});

describe("a wait is kept, however it is written", () => {
  test.each([
    ["90", 90_000],
    ["90.5", 90_500],
    ["1m30s", 90_000],
    ["1m 30s", 90_000],
    ["6ms", 6],
    ["0.5s", 500],
    ["PT1M30S", 90_000],
    ["PT0.25S", 250],
    ["P1DT2H", 93_600_000],
    ["00:01:30", 90_000],
    ["1.00:00:05", 86_405_000],
    ["30 seconds", 30_000],
    ["2 minutes and 5 seconds", 125_000],
    ["Mon, 16 Nov 2026 00:01:30 GMT", 90_000],
    ["2026-11-16T00:01:30Z", 90_000],
    ["2026-11-16T01:01:30.000+01:00", 90_000],
    [String(now / 1_000 + 90), 90_000],
    [String(now + 90_000), 90_000],
  ])("Retry-After: %s", (value, ms) => {
    expect(parseProviderSignal({ status: 429, headers: { "Retry-After": value }, now }).retryAfterMs).toBe(ms);
    expect(parseProviderSignal({ status: 429, body: { error: { retry_after: value } }, now }).retryAfterMs).toBe(ms);
  });

  test.each(["retry-after", "Retry-After", "RETRY-AFTER", " retry-after ", "x-retry-after", "retry-after-seconds"])(
    "the field %j",
    (name) => {
      expect(parseProviderSignal({ status: 429, headers: { [name]: "7" }, now }).retryAfterMs).toBe(7_000);
    },
  );

  test.each([
    ["Rate limit reached. Please try again in 9m38.016s.", 578_016],
    ["try again in 250ms", 250],
    ["Please retry in 38.662417882s.", 38_663],
    ["Please wait 8 hours 24 minutes and try again", 30_240_000],
    ["Out of call volume quota. Quota will be replenished in 5.03:23:11.", 444_191_000],
    ["Out of call volume quota. Quota will be replenished in 02:30:45.", 9_045_000],
    ["You will regain access on 2026-12-01 at 00:00 UTC.", 1_296_000_000],
    ["Free quota used (30 requests / 5h). Resets at 10:00 UTC.", 36_000_000],
    ["Limit resets at: 2026-11-16 00:00:30 UTC", 30_000],
    ["Your limit will reset at 2026-11-16 00:00:30", 30_000],
    ["resets at 2026-11-16T02:00:00+01:00 (2056)", 3_600_000],
  ])("%s", (message, ms) => {
    expect(parseProviderSignal({ status: 429, body: { error: { message } }, now }).retryAfterMs).toBe(ms);
  });

  test.each(["-5", "soon", "", "1e9", "NaN", "Infinity", "99999999999999999999999999", "99:99:99", "PT", "P", "::"])(
    "no wait: %j",
    (value) => {
      const signal = parseProviderSignal({ status: 429, headers: { "retry-after": value }, now });
      expect(signal).toEqual({ dims: {}, class: "rate_limited" });
    },
  );

  test("Z.ai's times without a zone are China's, unless those are past", () => {
    const zai = (message: string) =>
      parseProviderSignal({ status: 429, body: { error: { code: "1308", message } }, now }).retryAfterMs;
    expect(zai("Usage limit reached for 5 hour. Your limit will reset at 2026-11-16 09:30:00")).toBe(5_400_000);
    expect(zai("已达到 5 小时的使用上限。您的限额将在 2026-11-16 09:30:00 重置。")).toBe(5_400_000);
    expect(zai("Your limit will reset at 2026-11-16 09:30:00+00:00")).toBe(34_200_000);
    expect(zai("Your limit will reset at 2026-11-16 01:30:00")).toBe(5_400_000);
  });
});

describe("limits in header fields, however they are spelled", () => {
  test.each([
    "x-ratelimit-limit-tokens",
    "X-RateLimit-Limit-Tokens",
    "x-rate-limit-limit-tokens",
    "x-ratelimit-tokens-limit",
  ])("%s", (name) => {
    expect(parseProviderSignal({ status: 200, headers: { [name]: "100" } }).dims).toEqual({ tokens: { limit: 100 } });
  });
});

test("JSON in the words of a success, or that is a part of the request, is no error", () => {
  const quoted = JSON.stringify({ error: { type: "rate_limit_error", message: "too many requests" } });
  const request = JSON.stringify({ messages: [{ role: "user", content: "hi" }], type: "rate_limit_error" });
  expect(parseProviderSignal({ status: 200, body: { message: `They said: ${quoted}` } }).class).toBeUndefined();
  expect(parseProviderSignal({ status: 400, body: { message: `Unknown field in ${request}` } }).class).toBeUndefined();
});

test("the spent hours of a subscription are waited for until their reset", () => {
  const headers = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": "1794790800",
  };
  expect(parseProviderSignal({ status: 429, headers, now })).toEqual({
    dims: {},
    cooldownMs: 3_600_000,
    class: "quota_window_long",
  });
});

test("the reset of one window is not taken for that of another", () => {
  const left = {
    "x-ratelimit-limit": "1, 15000",
    "x-ratelimit-remaining": "0, 1000",
    "x-ratelimit-reset": "1, 1419704",
  };
  expect(parseProviderSignal({ status: 429, headers: left, now }).cooldownMs).toBe(1_000);
  const spent = { ...left, "x-ratelimit-remaining": "1, 0" };
  expect(parseProviderSignal({ status: 429, headers: spent, now }).cooldownMs).toBe(1_419_704_000);
});

test("a policy of Hugging Face has the name that its limit has", () => {
  const headers = { ratelimit: '"api";r=0;t=55', "ratelimit-policy": '"fixed window";"api";q=500;w=300' };
  expect(parseProviderSignal({ status: 429, headers }).dims).toEqual({
    "policy:api": { limit: 500, remaining: 0, resetMs: 55_000, windowMs: 300_000, unit: "requests" },
  });
});

test("a long body keeps its codes and its wait", () => {
  const body = JSON.stringify({ error: { code: "overloaded", message: "x".repeat(200_000), retry_after: 9 } });
  expect(parseProviderSignal({ status: 429, body })).toMatchObject({ class: "overloaded", retryAfterMs: 9_000 });
});

describe("HTML pages of proxies", () => {
  const page = (title: string, more = "") =>
    `<!DOCTYPE html><html><head><title>${title}</title><style>.overloaded{}</style></head><body><h1>${title}</h1>${more}</body></html>`;

  test.each([
    [429, page("429 Too Many Requests"), "rate_limited"],
    [503, page("503 Service Temporarily Unavailable"), "overloaded"],
    [502, page("502 Bad Gateway"), undefined],
    [403, page("Attention Required! | Cloudflare"), undefined],
    [500, page("Error", "<script>const reason = 'too many requests'</script>"), undefined],
    [413, page("413 Request Entity Too Large"), "request_too_large"],
  ])("%i", (status, body, expected) => {
    expect(parseProviderSignal({ status, body }).class).toBe(expected);
  });
});

describe("waits and wrappers in any order", () => {
  const YEAR_MS = 366 * 86_400_000;
  const isSane = (ms: number | undefined) => ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= YEAR_MS);
  const words = fc.constantFrom(
    ..."0 1 30 86400 1794787290 9e9 -7 . : , + - ~ ms s m h d PT P T Z GMT UTC 2026-11-16".split(" "),
  );
  const pieces = fc.array(fc.oneof(words, fc.constantFrom(" ", "retry after", "try again in", "resets at", "reset")), {
    maxLength: 9,
  });

  test("no text about waits becomes a number that no provider can mean", () => {
    fc.assert(
      fc.property(pieces, fc.constantFrom("", " "), (parts, glue) => {
        const text = parts.join(glue);
        for (const headers of [{}, { "retry-after": text, "retry-after-ms": text, "x-ratelimit-reset": text }])
          for (const body of [text, { retry_after: text, retry_after_ms: text, resets_at: text }, { message: text }]) {
            const { retryAfterMs, cooldownMs } = parseProviderSignal({ status: 429, headers, body, now });
            expect([retryAfterMs, cooldownMs].every(isSane), `${retryAfterMs} and ${cooldownMs} of ${text}`).toBe(true);
          }
      }),
      { numRuns: 2_000 },
    );
  });

  test("no nesting makes it throw or lose the class", () => {
    const { "as bytes": _, ...nestable } = WRAPPERS;
    const wrappers = Object.values(nestable);
    const one = documentedRefusals.find(({ name }) => name === "Kimi: requests") as DocumentedRefusal;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...wrappers), { maxLength: 3 }), fc.array(fc.anything()), (chosen, junk) => {
        const body = chosen.reduce((inner, wrap) => wrap(inner), one.body);
        expect(outcome(one, body)).toEqual({ class: one.class, retryAfterMs: one.retryAfterMs });
        const broken = chosen.reduce<unknown>((inner, wrap) => [...junk, wrap(inner)], junk);
        expect(isSane(outcome(one, broken).retryAfterMs)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test("an answer is no error because of a word in its text or of an empty error field", () => {
  for (const body of [
    { choices: [{ message: { content: "Error: rate limit exceeded, the server is overloaded" } }], error: null },
    { error: "", output: "rate limit exceeded" },
    { error: "", code: "rate_limit_exceeded" },
    { error: false, type: "overloaded_error" },
    { error: {}, message: "too many requests" },
    { errors: [], message: "overloaded" },
    { data: { text: "insufficient balance" } },
    { result: { response: "rate limit exceeded" }, success: true, errors: [] },
    { detail: { message: "rate limit exceeded" } },
    { base_resp: { status_code: 0, status_msg: "rate limit" } },
  ])
    expect(parseProviderSignal({ status: 200, body }).class).toBeUndefined();
});

test("an error of the request stays one, whichever limit its text names", () => {
  for (const [status, message] of [
    [400, "Invalid value for rate_limit: must be a number"],
    [400, "max_tokens exceeds the allowed limit"],
    [401, "Invalid API key"],
    [403, "This key cannot change rate limits"],
    [404, "RESOURCE_UNAVAILABLE: this content is no longer available"],
    [404, "The daily model does not exist"],
    [422, "quota must be positive"],
  ] as const)
    expect(
      parseProviderSignal({ status, body: { error: { message, code: "invalid_request" } } }).class,
    ).toBeUndefined();
});
