import { type CapacityExhaustedError, isHivepaceError, type ResourceUnknownError } from "@hivepace/core";
import type { Protocol } from "../call/call-facts.ts";

export interface SyntheticAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Errors of a gate that become an HTTP answer. */
export type Answerable = CapacityExhaustedError | ResourceUnknownError;

export function isAnswerable(error: unknown): error is Answerable {
  return isHivepaceError(error, "CAPACITY_EXHAUSTED") || isHivepaceError(error, "RESOURCE_UNKNOWN");
}

/**
 * Returns the answer to a request that the gate rejects, in the provider's own format. A thrown error would look like
 * a broken connection to the SDKs, which they retry.
 */
export function syntheticAnswer(error: Answerable, protocol: Protocol): SyntheticAnswer {
  if (isHivepaceError(error, "RESOURCE_UNKNOWN")) return unknownAnswer(error, protocol);
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

function unknownAnswer({ message }: ResourceUnknownError, protocol: Protocol): SyntheticAnswer {
  return {
    status: 400,
    statusText: "Bad Request",
    headers: {
      "content-type": "application/json",
      "x-should-retry": "false",
      "x-hivepace": "unknown-endpoint",
    },
    body: JSON.stringify(bodyOf(protocol, 400, "invalid_request_error", message)),
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
