import type { Clock, Lease, Refusal, UsedTokens } from "@hivepace/core";
import { warn } from "@hivepace/core/internal";

/** Maximum depth to which the `cause` chain of an error is followed. */
const DEEPEST = 6;

/** Runs `work` with a lease, which is renewed meanwhile, and ends the lease by the outcome. */
export async function runWith<T>(
  lease: Lease,
  work: (lease: Lease) => T | PromiseLike<T>,
  refusalOf: (error: unknown) => Refusal | undefined,
  { clock, leaseMs }: { readonly clock: Clock; readonly leaseMs: number },
): Promise<T> {
  let cancel: () => void;
  const renewLater = (): void => {
    cancel = clock.after(leaseMs / 2, renew, { background: true });
  };
  const renew = (): void => {
    lease.renew();
    renewLater();
  };
  renewLater();
  const end = (how: () => void): void => {
    cancel();
    how();
  };
  let result: T;
  try {
    result = await work(lease);
  } catch (error) {
    end(() => endFailed(lease, error, refusalOf));
    throw error;
  }
  end(() => lease.done(usageIn(result)));
  return result;
}

function endFailed(lease: Lease, error: unknown, refusalOf: (error: unknown) => Refusal | undefined): void {
  try {
    const refusal = refusalOf(error);
    if (refusal) lease.refused(refusal);
  } catch (failure) {
    // The caller must see the error of the work, not the error of `refusalOf`.
    warn(
      "HIVEPACE_REFUSAL_OF_FAILED",
      `refusalOf failed, so the error does not count as a refusal: ${String(failure)}`,
    );
  }
  lease.done();
}

/** Returns the refusal for an error with an HTTP status, as SDKs throw them; undefined for any other error. */
export function refusalByStatus(error: unknown): Refusal | undefined {
  for (let depth = 0, inner = error; depth < DEEPEST && isRecord(inner); depth++, inner = inner["cause"]) {
    const status = statusOf(inner);
    if (status === undefined) continue;
    if (status !== 429 && status !== 503 && status !== 529) return undefined;
    const message = inner["message"];
    return {
      reason: `${status}${typeof message === "string" ? ` ${message}` : ""}`.slice(0, 200),
      kind: status === 429 ? "limit" : "overload",
      retryAfterMs: retryAfterOf(inner),
    };
  }
  return undefined;
}

function statusOf(error: Record<string, unknown>): number | undefined {
  const { status, statusCode, response, $metadata: metadata } = error;
  const inner = isRecord(response) ? response["status"] : undefined;
  const ofAws = isRecord(metadata) ? metadata["httpStatusCode"] : undefined;
  return [status, statusCode, inner, ofAws].find((one): one is number => typeof one === "number");
}

function retryAfterOf(error: Record<string, unknown>): number | undefined {
  const { headers, responseHeaders, response } = error;
  for (const place of [headers, responseHeaders, isRecord(response) ? response["headers"] : undefined]) {
    const ms = Number(headerIn(place, "retry-after-ms") ?? Number.NaN);
    if (Number.isFinite(ms) && ms >= 0) return ms;
    const seconds = Number(headerIn(place, "retry-after") ?? Number.NaN);
    if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  }
  return undefined;
}

function headerIn(headers: unknown, name: string): string | undefined {
  if (!isRecord(headers)) return undefined;
  const { get } = headers;
  const value: unknown = typeof get === "function" ? get.call(headers, name) : headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Names of usage in results, as OpenAI, Anthropic, Google and the AI SDK write them. */
const TOTAL = ["total_tokens", "totalTokens", "totalTokenCount", "tokens"];
const INPUT = ["input_tokens", "inputTokens", "prompt_tokens", "promptTokens", "promptTokenCount"];
const OUTPUT = ["output_tokens", "outputTokens", "completion_tokens", "completionTokens", "candidatesTokenCount"];

/** The usage that a result reports; undefined when it reports none. */
export function usageIn(result: unknown): UsedTokens | undefined {
  if (!isRecord(result)) return undefined;
  const usage = result["usage"] ?? result["usageMetadata"];
  if (!isRecord(usage)) return undefined;
  const inputTokens = numberIn(usage, INPUT);
  const outputTokens = numberIn(usage, OUTPUT);
  const tokens = numberIn(usage, TOTAL);
  if (inputTokens === undefined && outputTokens === undefined && tokens === undefined) return undefined;
  // Some providers count the parts apart from the total, so a reported total is used unchanged.
  return { tokens: tokens ?? (inputTokens ?? 0) + (outputTokens ?? 0), inputTokens, outputTokens };
}

function numberIn(usage: Record<string, unknown>, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = usage[name];
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
