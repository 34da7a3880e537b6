import { Anthropic } from "@anthropic-ai/sdk";
import { ApiError } from "@google/genai";
import { APICallError, RetryError } from "ai";
import fc from "fast-check";
import { OpenAI } from "openai";
import { describe, expect, test } from "vitest";
import { classifyError } from "../src/index.ts";

const openai = (status: number | undefined, error: object, headers: Record<string, string> = {}) =>
  OpenAI.APIError.generate(status, { error }, undefined, new Headers(headers));
const anthropic = (status: number | undefined, error: object, headers: Record<string, string> = {}) =>
  Anthropic.APIError.generate(status, { type: "error", error }, undefined, new Headers(headers));
const google = (status: number, error: object) => new ApiError({ message: JSON.stringify({ error }), status });
const aiSdk = (statusCode: number, body: object, responseHeaders: Record<string, string> = {}) =>
  new APICallError({
    message: "failed",
    url: "https://example.com",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
    responseBody: JSON.stringify(body),
  });
/** As the AWS SDK for JavaScript 3 builds its exceptions. */
const aws = (name: string, httpStatusCode: number, message: string) =>
  Object.assign(new Error(message), { name, $fault: "client", $metadata: { httpStatusCode, attempts: 3 } });

describe("openai", () => {
  test("a rate limit, with its wait", () => {
    const error = openai(
      429,
      { message: "Rate limit reached", code: "rate_limit_exceeded" },
      { "retry-after-ms": "634" },
    );
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(classifyError(error)).toEqual({ dims: {}, retryAfterMs: 634, cooldownMs: 634, class: "rate_limited" });
  });

  test("a spent quota, a request too large, a broken connection, a bad request", () => {
    expect(classifyError(openai(429, { code: "insufficient_quota" })).class).toBe("quota_exhausted");
    expect(classifyError(openai(429, { message: "Request too large for gpt-4o" })).class).toBe("request_too_large");
    expect(classifyError(new OpenAI.APIConnectionError({ message: "Connection error." }))).toEqual({ dims: {} });
    expect(classifyError(openai(400, { message: "no" }))).toEqual({ dims: {} });
  });

  test("an error inside of a stream has no status", () => {
    const error = new OpenAI.APIError(
      undefined,
      { code: "server_is_overloaded", message: "busy" },
      "busy",
      new Headers(),
    );
    expect(classifyError(error).class).toBe("overloaded");
  });
});

describe("@anthropic-ai/sdk", () => {
  test("each of its refusals", () => {
    const classes = [
      anthropic(429, { type: "rate_limit_error" }, { "retry-after": "12" }),
      anthropic(429, { type: "rate_limit_error", details: { error_code: "ramp_limit_exceeded" } }),
      anthropic(429, { type: "rate_limit_error", details: { error_code: "enforced_spend_limit_reached" } }),
      anthropic(529, { type: "overloaded_error" }),
      anthropic(413, { type: "request_too_large" }),
    ].map((error) => classifyError(error).class);
    expect(classes).toEqual(["rate_limited", "ramp_limited", "quota_exhausted", "overloaded", "request_too_large"]);
  });

  test("an error inside of a stream", () => {
    const body = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } as const;
    const error = new Anthropic.APIError(undefined, body, "Overloaded", new Headers());
    expect(classifyError(error).class).toBe("overloaded");
  });

  test("limits in its headers", () => {
    const headers = { "anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0" };
    expect(classifyError(anthropic(429, {}, headers))).toMatchObject({
      dims: { requests: { limit: 50 } },
      exhausted: ["requests"],
    });
  });
});

describe("@google/genai", () => {
  test("its details stand in the message", () => {
    const details = [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerMinutePerProject", quotaValue: "15" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "26s" },
    ];
    expect(classifyError(google(429, { code: 429, status: "RESOURCE_EXHAUSTED", message: "quota", details }))).toEqual({
      dims: { requests: { limit: 15, windowMs: 60_000 } },
      retryAfterMs: 26_000,
      cooldownMs: 26_000,
      class: "rate_limited",
    });
    expect(classifyError(google(503, { code: 503, status: "UNAVAILABLE" })).class).toBe("overloaded");
  });

  test("a status in front of the JSON does not hide it", () => {
    const message = `got status: 429 Too Many Requests. ${JSON.stringify({ error: { message: "limit: 0, model: x", status: "RESOURCE_EXHAUSTED" } })}`;
    expect(classifyError(new ApiError({ message, status: 429 })).class).toBe("not_entitled");
  });

  test("the SDKs before it: their details beside the message, the answer in it or as axios keeps it", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "9s" }];
    const message = `[GoogleGenerativeAI Error]: [429 Too Many Requests] quota ${JSON.stringify(details)}`;
    const beside = Object.assign(new Error(message), { status: 429, errorDetails: details });
    expect(classifyError(beside)).toMatchObject({ retryAfterMs: 9_000, class: "rate_limited" });
    const answer = { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded", details } };
    const quoted = new Error(`[VertexAI.ClientError]: got status: 429 Too Many Requests. ${JSON.stringify(answer)}`);
    expect(classifyError(quoted)).toMatchObject({ retryAfterMs: 9_000, class: "rate_limited" });
    const kept = Object.assign(new Error("failed"), { response: { status: 429, headers: {}, data: [answer] } });
    expect(classifyError(kept)).toMatchObject({ retryAfterMs: 9_000, class: "rate_limited" });
  });
});

describe("AWS", () => {
  test("an exception inside of a stream has no status of its own, or that of the stream", () => {
    const inStream = (name: string, $metadata: object) =>
      Object.assign(new Error("x"), { name, $fault: "client", $metadata });
    expect(classifyError(inStream("ThrottlingException", {})).class).toBe("rate_limited");
    expect(classifyError(inStream("ServiceUnavailableException", { httpStatusCode: 200 })).class).toBe("overloaded");
    expect(classifyError(inStream("ValidationException", { httpStatusCode: 200 }))).toEqual({ dims: {} });
  });

  test("its names say what it is", () => {
    expect(classifyError(aws("ThrottlingException", 429, "Too many requests")).class).toBe("rate_limited");
    expect(classifyError(aws("ThrottlingException", 400, "Too many tokens per day")).class).toBe("quota_window_long");
    expect(classifyError(aws("ServiceQuotaExceededException", 400, "quota")).class).toBe("quota_exhausted");
    expect(classifyError(aws("ModelNotReadyException", 429, "not ready")).class).toBe("overloaded");
    expect(classifyError(aws("ServiceUnavailableException", 503, "away")).class).toBe("overloaded");
    expect(classifyError(aws("ValidationException", 400, "bad"))).toEqual({ dims: {} });
  });
});

describe("ai", () => {
  test("a call's error, and what wraps it after retries", () => {
    const inner = aiSdk(429, { error: { type: "rate_limit_error" } }, { "retry-after": "9" });
    const expected = { dims: {}, retryAfterMs: 9_000, cooldownMs: 9_000, class: "rate_limited" };
    expect(classifyError(inner)).toEqual(expected);
    expect(
      classifyError(
        new RetryError({ message: "gave up", reason: "maxRetriesExceeded", errors: [new Error("a"), inner] }),
      ),
    ).toEqual(expected);
    expect(classifyError(new Error("outer", { cause: inner }))).toEqual(expected);
  });
});

test("a value that is no error of an SDK has no class", () => {
  for (const error of [
    undefined,
    null,
    "429",
    429,
    new Error("429"),
    new Error('429 {"a":1}'),
    new TypeError("fetch failed", { cause: { code: "ECONNRESET" } }),
  ])
    expect(classifyError(error)).toEqual({ dims: {} });
  const circular: { cause?: unknown } = new Error("round");
  circular.cause = circular;
  expect(classifyError(circular)).toEqual({ dims: {} });
});

test("an error that is wrapped too often is not searched for ever", () => {
  let error: Error = openai(429, {});
  for (let i = 0; i < 6; i++) error = new Error("outer", { cause: error });
  expect(classifyError(error).class).toBe("rate_limited");
  expect(classifyError(new Error("outer", { cause: error }))).toEqual({ dims: {} });
});

test("nothing that is thrown makes it throw", () => {
  fc.assert(
    fc.property(fc.anything(), (error) => void classifyError(error)),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(
      fc.record({ status: fc.anything(), headers: fc.anything(), error: fc.anything(), cause: fc.anything() }),
      (error) => void classifyError(error),
    ),
    { numRuns: 500 },
  );
});

test("a very long message is read in no time, whatever is in it", () => {
  for (const text of ["[".repeat(200_000), "{".repeat(200_000), "]".repeat(200_000)])
    expect(classifyError(Object.assign(new Error(text), { status: 429 })).class).toBe("rate_limited");
});

test("a point in time in the headers refers to the time that is given", () => {
  const error = openai(429, {}, { "retry-after": "Mon, 16 Nov 2026 00:01:30 GMT" });
  expect(classifyError(error, { now: "2026-11-16T00:00:00Z" }).retryAfterMs).toBe(90_000);
});
