import { isRecord } from "../untyped.ts";
import { jsonInText } from "./json-in-text.ts";
import { parseProviderSignal } from "./parse-provider-signal.ts";
import type { ProviderSignal } from "./provider-signal.ts";

/** How far wrapped errors are followed. */
const DEEPEST = 6;

/**
 * Classifies an error that an SDK threw, as `parseProviderSignal` does for an answer: OpenAI's and Anthropic's
 * `APIError`, Google's `ApiError`, the exceptions of AWS, the AI SDK's `APICallError` and `RetryError`, and errors
 * that have one of these as their cause. Never throws.
 */
export function classifyError(error: unknown, options: { now?: number | Date | string } = {}): ProviderSignal {
  try {
    return classify(error, options.now, 0) ?? { dims: {} };
  } catch {
    return { dims: {} };
  }
}

function classify(error: unknown, now: number | Date | string | undefined, depth: number): ProviderSignal | undefined {
  if (!isRecord(error) || depth > DEEPEST) return undefined;
  const signal = parseProviderSignal({ status: statusOf(error), headers: headersOf(error), body: bodyOf(error), now });
  const hasMeaning = signal.class !== undefined || statusOf(error) !== undefined;
  if (hasMeaning) return signal;
  for (const inner of [error["cause"], lastOf(error["errors"]), error["originalError"]]) {
    const found = classify(inner, now, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function statusOf(error: Record<string, unknown>): number | undefined {
  const places = [
    error["status"],
    error["statusCode"],
    // Ollama.
    error["status_code"],
    part(error, "$metadata")["httpStatusCode"],
    part(error, "response")["status"],
  ];
  return places.find((status): status is number => typeof status === "number");
}

function headersOf(error: Record<string, unknown>): object | undefined {
  const places = [
    error["headers"],
    error["responseHeaders"],
    part(error, "$response")["headers"],
    part(error, "response")["headers"],
    // Cohere.
    part(error, "rawResponse")["headers"],
  ];
  const headers = places.find((place): place is object => typeof place === "object" && place !== null);
  const { name } = error;
  // AWS names the refusal in the error itself; the header is not always at hand.
  if (!isRecord(error["$metadata"]) || typeof name !== "string") return headers;
  return { ...headers, "x-amzn-errortype": name };
}

/**
 * OpenAI keeps the inner error object, Anthropic the whole body, the AI SDK its text, Google has it in the message, or
 * its details beside it. The name, code and type are fields of the outer error.
 */
function bodyOf(error: Record<string, unknown>): unknown {
  const { responseBody, data, body } = error;
  if (typeof responseBody === "string" && responseBody !== "") return responseBody;
  // Mistral, Cohere.
  if (isRecord(body) || (typeof body === "string" && body !== "")) return body;
  if (isRecord(data)) return data;
  const { message, code, type, errorDetails: details } = error;
  if (isRecord(error["error"])) return isRecord(error["error"]["error"]) ? error["error"] : { error: error["error"] };
  const received = part(error, "response")["data"];
  if (typeof received === "object" && received !== null) return received;
  const json = typeof message === "string" && !Array.isArray(details) ? jsonInText(message)?.value : undefined;
  // Without a status, only an error object that the message quotes is evidence.
  if (statusOf(error) === undefined) return isRecord(json) && isRecord(json["error"]) ? json : undefined;
  return json ?? { error: { code, type, message, details } };
}

function part(error: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = error[name];
  return isRecord(value) ? value : {};
}

function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : undefined;
}
