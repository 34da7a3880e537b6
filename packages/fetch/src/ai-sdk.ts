import type { AbortSignalLike, Clock, Gate, Lease } from "@hivepace/core";
import type { LanguageModelMiddleware } from "ai";
import { measureInput } from "./call/call-facts.ts";
import { type CallInfo, checkPacing, type PacingOptions, type PacingSettings } from "./options.ts";
import { endWithError, endWithStatus } from "./pacing/failure.ts";
import { forbidsRetry } from "./pacing/forbids-retry.ts";
import { type PacedCall, Pacer, type Sending } from "./pacing/pacer.ts";
import { planCall } from "./pacing/plan.ts";
import { classifyError } from "./signal/classify-error.ts";
import { parseProviderSignal } from "./signal/parse-provider-signal.ts";
import { fieldOf, isRecord } from "./untyped.ts";
import type { ReportedUsage } from "./usage/reported-usage.ts";
import { watchedStream } from "./usage/watched-stream.ts";

interface Call {
  readonly model: { readonly provider: string; readonly modelId: string };
  readonly params: {
    readonly prompt: unknown;
    readonly tools?: unknown;
    readonly maxOutputTokens?: number | undefined;
    readonly abortSignal?: unknown;
  };
}

/** Fits the `middleware` of the AI SDK's `wrapLanguageModel`. */
export interface HivepaceModelMiddleware {
  readonly specificationVersion: "v3";
  wrapGenerate<R>(options: Call & { doGenerate: () => PromiseLike<R> }): Promise<R>;
  wrapStream<R>(options: Call & { doStream: () => PromiseLike<R> }): Promise<R>;
}

/** The AI SDK's names of providers that have another name here. */
const PROVIDERS: Readonly<Record<string, string>> = { google: "gemini", "amazon-bedrock": "bedrock" };

/** The thrown value, or the result. */
type Outcome<R> = { readonly value: R } | { readonly error: unknown };

/**
 * Returns a middleware for `wrapLanguageModel({ model, middleware: hivepaceMiddleware(hive) })`. Works with every
 * model of the AI SDK, also with providers that take no `fetch`. A refusal that Hivepace has already retried is
 * marked as not retryable, so that the SDK does not repeat the call.
 *
 * @example
 * ```ts
 * const model = wrapLanguageModel({ model: openai("gpt-5-mini"), middleware: hivepaceMiddleware(hive) });
 * ```
 *
 * @throws INVALID_CONFIG when an option breaks its rule.
 */
export function hivepaceMiddleware(gate: Gate, options: PacingOptions = {}): HivepaceModelMiddleware {
  const settings = checkPacing(options);
  const pacer = new Pacer(gate, settings);
  const middleware = {
    specificationVersion: "v3",
    wrapGenerate: <R>({ doGenerate, ...call }: Call & { doGenerate: () => PromiseLike<R> }) =>
      run(pacer, settings, call, doGenerate, (lease, plan, result) => {
        const usage = usageOf(fieldOf(result, "usage"));
        pacer.settle(lease, plan, { usage, pieces: 0, isWhole: true });
        return result;
      }),
    wrapStream: <R>({ doStream, ...call }: Call & { doStream: () => PromiseLike<R> }) =>
      run(pacer, settings, call, doStream, (lease, plan, result) =>
        metered(pacer, lease, plan, result, settings.clock),
      ),
  } as const;
  return middleware satisfies LanguageModelMiddleware & HivepaceModelMiddleware;
}

async function run<R>(
  pacer: Pacer,
  settings: PacingSettings,
  { model, params }: Call,
  work: () => PromiseLike<R>,
  finish: (lease: Lease, plan: PacedCall, result: R) => R,
): Promise<R> {
  const [family = ""] = model.provider.split(".");
  const provider = PROVIDERS[family] ?? family;
  const { inputBytes, attachments } = measureInput([params.prompt, params.tools ?? []]);
  const info: CallInfo = {
    protocol: "other",
    model: model.modelId,
    inputBytes,
    attachments,
    maxOutputTokens: params.maxOutputTokens,
    url: "",
    method: "POST",
    provider,
  };
  const signal = params.abortSignal as AbortSignalLike | undefined;
  const plan = planCall(info, settings, { defaultEndpoint: provider, signal, isReplayable: true });
  if (plan === undefined) return work();
  const outcome = await pacer.run(plan, async (lease): Promise<Sending<Outcome<R>>> => {
    try {
      const value = await work();
      const headers = fieldOf(fieldOf(value, "response"), "headers");
      const seen = { status: 200, headers: isRecord(headers) ? headers : {}, now: settings.clock.epochMs() };
      pacer.observe(parseProviderSignal(seen), plan, lease);
      lease.answered?.();
      return { result: { value: finish(lease, plan, value) }, refusal: undefined };
    } catch (error) {
      return { result: { error }, ...failed(pacer, lease, plan, error, settings) };
    }
  });
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

function failed(pacer: Pacer, lease: Lease, plan: PacedCall, error: unknown, { clock }: PacingSettings) {
  const signal = classifyError(error, { now: clock.epochMs() });
  const status = fieldOf(error, "statusCode");
  pacer.observe(signal, plan, lease);
  if (signal.class === undefined) {
    const failure =
      typeof status === "number"
        ? endWithStatus(lease, status, () => String(fieldOf(error, "responseBody") ?? ""))
        : endWithError(lease, error, plan.signal);
    return { refusal: undefined, failure };
  }
  pacer.refuse(lease, signal, typeof status === "number" ? status : undefined);
  // The SDK would repeat an error that is marked as retryable, which the pacer has already done.
  if (isRecord(error) && error["isRetryable"] === true) Reflect.set(error, "isRetryable", false);
  const retry = fieldOf(fieldOf(error, "responseHeaders"), "x-should-retry");
  return { refusal: signal, isFinal: forbidsRetry(retry) };
}

/** Returns the result with a stream that settles the lease while its parts pass at the reader's pace. */
function metered<R>(pacer: Pacer, lease: Lease, plan: PacedCall, result: R, clock: Clock): R {
  const stream = fieldOf(result, "stream") as ReadableStream<unknown>;
  const renew = pacer.renewal(lease);
  let usage: ReportedUsage | undefined;
  let pieces = 0;
  let isOver = false;
  const end = (isWhole: boolean): void => {
    if (!isOver) pacer.settle(lease, plan, { usage, pieces, isWhole });
    isOver = true;
  };
  const chunk = (part: unknown): void => {
    if (isOver) return;
    renew();
    const type = String(fieldOf(part, "type"));
    if (type.endsWith("-delta")) pieces++;
    if (type === "finish") {
      usage = usageOf(fieldOf(part, "usage"));
      end(true);
    }
    if (type !== "error") return;
    const error = fieldOf(part, "error");
    const signal = classifyError(error);
    const refusal = signal.class === undefined ? parseProviderSignal({ status: 200, body: { error } }) : signal;
    if (refusal.class === undefined) return;
    isOver = true;
    pacer.refuse(lease, refusal, undefined);
  };
  return { ...result, stream: watchedStream(stream, { chunk, end }, clock, sizeOfPart) };
}

/** Estimated bytes of a part, which bound the memory of an unread stream. Parts are short texts. */
function sizeOfPart(): number {
  return 256;
}

/** Converts usage in the vocabulary of the AI SDK 6 or 5. */
function usageOf(usage: unknown): ReportedUsage | undefined {
  const input = fieldOf(usage, "inputTokens");
  const output = fieldOf(usage, "outputTokens");
  const cacheRead = count(fieldOf(input, "cacheRead")) ?? count(fieldOf(usage, "cachedInputTokens")) ?? 0;
  const cacheWrite = count(fieldOf(input, "cacheWrite")) ?? 0;
  const total = count(fieldOf(input, "total")) ?? count(input);
  const said = count(fieldOf(output, "total")) ?? count(output);
  // Version 5 may leave reasoning out of the output; the total has it.
  const sum = count(fieldOf(usage, "totalTokens"));
  const outputTokens = sum === undefined || total === undefined ? said : Math.max(said ?? 0, sum - total);
  if (total === undefined && outputTokens === undefined) return undefined;
  const freshInput = count(fieldOf(input, "noCache")) ?? Math.max(0, (total ?? 0) - cacheRead - cacheWrite);
  return { freshInput, cacheRead, cacheWrite, output: outputTokens ?? 0 };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}
