import type { CapacityExhaustedError } from "@hivepace/core";
import type { Protocol } from "../call/call-facts.ts";

export interface SyntheticAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * What the caller gets when the gate does not let a request through in time: an answer in the provider's own shape, and
 * no throw, which the SDKs would take for a broken connection and try again.
 */
export function syntheticAnswer(error: CapacityExhaustedError, protocol: Protocol): SyntheticAnswer {
  const isTooLarge = error.reason === "too-large";
  const status = isTooLarge ? 413 : 429;
  const type = isTooLarge ? "request_too_large" : "rate_limit_error";
  const { message } = error;
  return {
    status,
    statusText: isTooLarge ? "Content Too Large" : "Too Many Requests",
    headers: {
      "content-type": "application/json",
      "x-should-retry": "false",
      "x-hivepace": error.reason,
      ...wait(error),
    },
    body: JSON.stringify(bodyOf(protocol, status, type, message)),
  };
}

function wait({ retryAfterMs }: CapacityExhaustedError): Record<string, string> {
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) return {};
  const ms = Math.max(1, Math.ceil(retryAfterMs));
  return { "retry-after": String(Math.ceil(ms / 1_000)), "retry-after-ms": String(ms) };
}

function bodyOf(protocol: Protocol, status: number, type: string, message: string): unknown {
  if (protocol === "anthropic") return { type: "error", error: { type, message } };
  if (protocol === "gemini")
    return { error: { code: status, message, status: status === 429 ? "RESOURCE_EXHAUSTED" : "INVALID_ARGUMENT" } };
  return { error: { message, type, param: null, code: status === 429 ? "rate_limit_exceeded" : type } };
}
