import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { refusals } from "../../../test/fixtures/refusals.ts";
import { parseProviderSignal } from "../parse-provider-signal.ts";
import { isWorthWaiting } from "../provider-signal.ts";
import { FAMILIES } from "./families.ts";
import { PRECEDENCE } from "./rule.ts";

const now = Date.parse("2026-11-16T00:00:00.000Z");

describe("answers as the providers document them", () => {
  test.each(refusals)("$name", ({ status, headers = {}, body, class: expected, retryAfterMs }) => {
    const signal = parseProviderSignal({ status, headers, body, now });
    expect(signal.class).toBe(expected);
    expect(signal.retryAfterMs).toBe(retryAfterMs);
    if (isWorthWaiting(expected) && (retryAfterMs ?? 0) > 0) expect(signal.cooldownMs).toBe(retryAfterMs);
  });
});

test("every documented answer cites a public page", () => {
  for (const { source } of refusals) expect(new URL(source).protocol).toBe("https:");
});

describe("the table of refusals", () => {
  test.each(FAMILIES.map(({ rules }) => [rules]))("every row has a condition", (rules) => {
    for (const { class: refusal, code, text } of rules) {
      expect(PRECEDENCE).toContain(refusal);
      expect(code ?? text).toBeInstanceOf(RegExp);
      // A pattern that remembers its last position would match every second time.
      expect(`${code?.flags}${text?.flags}`).not.toMatch(/[gy]/);
    }
  });
});

test("every family cites the public pages of its rows", () => {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder).filter((file) => /^(?!rule|families).*(?<!\.test)\.ts$/.test(file));
  expect(files).toHaveLength(FAMILIES.length);
  for (const file of files)
    expect([file, readFileSync(new URL(file, folder), "utf8").match(/^ \* @see https:\/\/\S+$/gm)]).toEqual([
      file,
      expect.arrayContaining([expect.any(String)]),
    ]);
});

describe("an answer that nobody has described", () => {
  test("keeps the wait that it tells, in whichever words", () => {
    for (const [message, ms] of [
      ["Expected available in 30 seconds.", 30_000],
      ["Retry after: 21 seconds.", 21_000],
      ["Too fast. Please wait about 2 minutes and 5 seconds.", 125_000],
      ["quota resets in ~1h", 3_600_000],
    ] as const)
      expect(parseProviderSignal({ status: 429, body: { message }, now })).toMatchObject({
        class: "rate_limited",
        retryAfterMs: ms,
      });
  });

  test("keeps the wait of a gateway's own header", () => {
    for (const headers of [{ "x-retry-after": "7" }, { "retry-after": "7s" }, { "x-ratelimit-retry-after": "7" }])
      expect(parseProviderSignal({ status: 429, headers, now }).retryAfterMs).toBe(7_000);
  });

  test("keeps a wait in any words and fields that ask for one", () => {
    for (const [message, ms] of [
      ["Please try again in 1h2m3.5s.", 3_723_500],
      ["You may request again after 15 seconds", 15_000],
      ["A cooldown of 15 seconds applies", 15_000],
      ["Retry after 30.", 30_000],
      ["{'error': {'retry_after': 7, 'type': 'x'}}", 7_000],
      ["Please try again in an hour.", 3_600_000],
      ["Please try again in a few minutes.", undefined],
      ["Retry after 3 attempts", undefined],
      ["You have made more than 150 requests in 10 seconds.", undefined],
    ] as const)
      expect([message, parseProviderSignal({ status: 429, body: { message }, now }).retryAfterMs]).toEqual([
        message,
        ms,
      ]);
    for (const part of ["details", "rateLimit", "rate_limit", "quota", "retry"])
      expect([
        part,
        parseProviderSignal({ status: 429, body: { error: { message: "x", [part]: { retry_after: 7 } } }, now })
          .retryAfterMs,
      ]).toEqual([part, 7_000]);
    for (const [field, value, ms] of [
      ["retry-after", 30, 30_000],
      ["retry_in", "30", 30_000],
      ["resetIn", "30s", 30_000],
      ["retry_delay_ms", 250, 250],
      ["seconds_until_reset", 5, 5_000],
      ["next_available_at", "2026-11-16T00:00:05Z", 5_000],
      ["retries", 3, undefined],
      ["wait", true, undefined],
      ["retry_after", Number.NaN, undefined],
      ["retry_after", -5, undefined],
      ["retry_after", Infinity, undefined],
    ] as const)
      expect([field, parseProviderSignal({ status: 429, body: { [field]: value }, now }).retryAfterMs]).toEqual([
        field,
        ms,
      ]);
  });

  test("has the first wait above 0 of those that it tells", () => {
    const info = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0s" };
    const body = { error: { code: 429, message: "Please retry in 12s.", details: [info] } };
    expect(parseProviderSignal({ status: 429, headers: { "retry-after": "0" }, body, now }).retryAfterMs).toBe(12_000);
  });

  test("a quota of a minute is no credit, whichever words it has", () => {
    const body = { error: { message: "You exceeded your current quota of requests per minute" } };
    expect(parseProviderSignal({ status: 429, body }).class).toBe("rate_limited");
  });

  test("a server error without words about limits is no refusal: a cut needs evidence", () => {
    for (const status of [400, 401, 404, 409, 422, 500, 502, 504])
      expect(
        parseProviderSignal({ status, body: { error: { message: "Something went wrong" } } }).class,
      ).toBeUndefined();
  });

  test("four digits of another provider are not Z.ai's or Cloudflare's codes", () => {
    for (const code of [1113, 1308, 3036, "1002"])
      expect(parseProviderSignal({ status: 400, body: { error: { code, message: "no" } } }).class).toBeUndefined();
  });
});
