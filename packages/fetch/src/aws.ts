import { type AbortSignalLike, type Clock, type Gate, InvalidConfigError, type Lease } from "@hivepace/core";
import { checkKnown } from "@hivepace/core/internal";
import { readCall } from "./call/call-facts.ts";
import { type CallInfo, checkPacing, PACING_OPTIONS, type PacingOptions, type PacingSettings } from "./options.ts";
import { endWithError, endWithStatus } from "./pacing/failure.ts";
import { type PacedCall, Pacer, type Sending } from "./pacing/pacer.ts";
import { planCall } from "./pacing/plan.ts";
import { classifyError } from "./signal/classify-error.ts";
import { parseProviderSignal } from "./signal/parse-provider-signal.ts";
import type { ProviderSignal } from "./signal/provider-signal.ts";
import { fieldOf, parseJson } from "./untyped.ts";
import { type ReportedUsage, usageOf } from "./usage/reported-usage.ts";
import { watchedStream } from "./usage/watched-stream.ts";

/** Options of `limitAwsClient`: those of the other clients, without the ones that resend or move a call. */
export type AwsOptions = Omit<PacingOptions, "endpoint" | "maxRetries" | "baseDelayMs" | "maxDelayMs"> & {
  /**
   * The endpoint of a call in the hive, or a function that names it; undefined lets the call pass without a limit.
   *
   * @defaultValue "bedrock"
   */
  endpoint?: string | ((call: CallInfo) => string | undefined) | undefined;
};

/** The part of a client of the AWS SDK for JavaScript 3 that the middleware needs. */
export interface AwsClient {
  readonly middlewareStack: { addRelativeTo(middleware: never, options: never): void };
  send(command: never, ...rest: never[]): unknown;
}

/** The argument of a middleware at the step `finalizeRequest`. */
interface Args {
  readonly input: object;
  readonly request: unknown;
}
interface Result {
  readonly response: unknown;
  readonly output: object;
}
type Next = (args: Args) => Promise<Result>;

const NAME = "hivepaceMiddleware";

const { maxRetries: _retries, baseDelayMs: _base, maxDelayMs: _most, ...OPTIONS } = PACING_OPTIONS;

/**
 * Paces every call of an AWS SDK client, in place, and returns the client. Each attempt of the SDK takes a lease of its own, so
 * that the SDK's `maxAttempts` and retry mode work as before; a throttled attempt is announced to all agents, and the next
 * one waits with them.
 *
 * @example
 * ```ts
 * const bedrock = limitAwsClient(new BedrockRuntimeClient({ region: "eu-central-1" }), hive);
 * await bedrock.send(new ConverseCommand({ modelId, messages }));
 * ```
 *
 * @throws INVALID_CONFIG when `client` is not a client of the AWS SDK 3, or an option breaks its rule.
 */
export function limitAwsClient<C extends AwsClient>(client: C, gate: Gate, options: AwsOptions = {}): C {
  const isClient = typeof client?.send === "function" && typeof client.middlewareStack?.addRelativeTo === "function";
  if (!isClient) throw new InvalidConfigError("client", "a client of the AWS SDK for JavaScript 3", typeof client);
  // The retry loop of the SDK repeats refused attempts.
  checkKnown(options, OPTIONS);
  const settings = checkPacing({ ...options, maxRetries: 0 });
  const pacer = new Pacer(gate, settings);
  const signals = new WeakMap<object, AbortSignalLike>();
  const middleware = (next: Next) => (args: Args) => paced(pacer, settings, next, args, signals.get(args.input));
  // The place is inside the retry loop, so that every attempt is paced, and before the signature, which expires after
  // some minutes.
  const place = { name: NAME, relation: "after", toMiddleware: "retryMiddleware", override: true };
  client.middlewareStack.addRelativeTo(middleware as never, place as never);
  keepSignals(client, signals);
  return client;
}

/**
 * Remembers the abort signal of each command. Middleware does not receive the options of `send`, and a wait must end
 * when its call is aborted.
 */
function keepSignals(client: AwsClient, signals: WeakMap<object, AbortSignalLike>): void {
  const send = client.send as (...args: unknown[]) => unknown;
  client.send = function sendWithSignal(this: unknown, ...args: unknown[]): unknown {
    const [command, options] = args;
    const input = fieldOf(command, "input");
    const signal = fieldOf(options, "abortSignal") as AbortSignalLike | undefined;
    if (signal !== undefined && typeof input === "object" && input !== null) signals.set(input, signal);
    return Reflect.apply(send, this, args);
  };
}

async function paced(
  pacer: Pacer,
  settings: PacingSettings,
  next: Next,
  args: Args,
  signal: AbortSignalLike | undefined,
): Promise<Result> {
  const { path = "", hostname = "", method = "POST", body } = args.request as HttpRequest;
  const facts = readCall(path, textOf(body), method);
  const info: CallInfo = { ...facts, url: `https://${hostname}${path}`, method, provider: "bedrock" };
  const plan = planCall(info, settings, { defaultEndpoint: "bedrock", signal, isReplayable: false });
  if (plan === undefined) return next(args);
  const outcome = await pacer.run(plan, (lease) => attempt(pacer, settings, plan, lease, () => next(args)));
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

interface HttpRequest {
  readonly hostname?: string;
  readonly path?: string;
  readonly method?: string;
  readonly body?: unknown;
}

type Outcome = { readonly value: Result } | { readonly error: unknown };

async function attempt(
  pacer: Pacer,
  { clock }: PacingSettings,
  plan: PacedCall,
  lease: Lease,
  work: () => Promise<Result>,
): Promise<Sending<Outcome>> {
  try {
    const value = await work();
    const { statusCode = 200, headers = {} } = value.response as { statusCode?: number; headers?: object };
    pacer.observe(parseProviderSignal({ status: statusCode, headers, now: clock.epochMs() }), plan, lease);
    lease.answered?.();
    return { result: { value: settled(pacer, lease, plan, value, clock) }, refusal: undefined };
  } catch (error) {
    const refusal = classifyError(error, { now: clock.epochMs() });
    pacer.observe(refusal, plan, lease);
    const status = fieldOf(fieldOf(error, "$metadata"), "httpStatusCode");
    if (refusal.class !== undefined) pacer.refuse(lease, refusal, typeof status === "number" ? status : undefined);
    else if (typeof status === "number") endWithStatus(lease, status, () => String(fieldOf(error, "message") ?? ""));
    else endWithError(lease, error, plan.signal);
    return { result: { error }, refusal: refusal.class === undefined ? undefined : refusal };
  }
}

/** Ends the lease with the reported usage: at once, or with the stream of the answer. */
function settled(pacer: Pacer, lease: Lease, plan: PacedCall, result: Result, clock: Clock): Result {
  const { output } = result;
  for (const field of ["stream", "body"]) {
    const source = fieldOf(output, field);
    if (!isEventStream(source)) continue;
    return { ...result, output: { ...output, [field]: watched(pacer, lease, plan, source, clock) } };
  }
  pacer.settle(lease, plan, { usage: usageOfOutput(result), pieces: 0, isWhole: true });
  return result;
}

/** Events as `ConverseStream` and `InvokeModelWithResponseStream` yield them; a plain body is bytes. */
function isEventStream(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return false;
  return Symbol.asyncIterator in value;
}

/** `Converse` has the usage in its output, `InvokeModel` in headers and in the model's own body. */
function usageOfOutput({ output, response }: Result): ReportedUsage | undefined {
  const body = fieldOf(output, "body");
  const own = usageOf(body instanceof Uint8Array ? parseJson(new TextDecoder().decode(body)) : output);
  if (own !== undefined) return own;
  const headers = fieldOf(response, "headers");
  const count = (name: string): number | undefined => {
    const value = Number(fieldOf(headers, `x-amzn-bedrock-${name}-token-count`) ?? Number.NaN);
    return value >= 0 ? value : undefined;
  };
  const [input, generated] = [count("input"), count("output")];
  if (input === undefined || generated === undefined) return undefined;
  return { freshInput: input, output: generated };
}

/** Returns the events of an answer, and settles the lease while they pass at the reader's pace. */
function watched(
  pacer: Pacer,
  lease: Lease,
  plan: PacedCall,
  source: AsyncIterable<unknown>,
  clock: Clock,
): ReadableStream<unknown> {
  const renew = pacer.renewal(lease);
  let usage: ReportedUsage | undefined;
  let pieces = 0;
  let failure: unknown;
  const watcher = {
    chunk: (event: unknown): void => {
      renew();
      pieces++;
      const bytes = fieldOf(fieldOf(event, "chunk"), "bytes");
      usage = usageOf(bytes instanceof Uint8Array ? parseJson(new TextDecoder().decode(bytes)) : event, usage);
    },
    end: (isWhole: boolean): void => {
      const refusal = failure === undefined ? undefined : refusalInStream(failure);
      if (refusal?.class !== undefined) pacer.refuse(lease, refusal, undefined);
      else pacer.settle(lease, plan, { usage, pieces, isWhole });
    },
  };
  const events = source[Symbol.asyncIterator]();
  const stream = new ReadableStream<unknown>(
    {
      async pull(controller) {
        try {
          const { done, value } = await events.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          failure = error;
          controller.error(error);
        }
      },
      async cancel() {
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return watchedStream(stream, watcher, clock, () => EVENT_BYTES);
}

/** Classifies an exception among the events. It has a name and a message; the answer has a success status. */
function refusalInStream(error: unknown): ProviderSignal {
  const { name = "", message } = error as { name?: string; message?: string };
  return parseProviderSignal({ status: 200, body: { [name]: { message } } });
}

/** Estimated bytes of an event, which bound the memory of an unread stream. Events are short texts. */
const EVENT_BYTES = 256;

function textOf(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : undefined;
}
