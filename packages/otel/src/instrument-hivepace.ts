import { InvalidConfigError, type Lease } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";
import {
  type Attributes,
  metrics as globalMetrics,
  type Link,
  type MeterProvider,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import type { AttributeHook } from "./attributes.ts";
import { countEvents } from "./counting.ts";
import { Gauges } from "./gauges.ts";
import type { Observed } from "./sources.ts";
import { Tracing } from "./tracing.ts";

/** Options of `instrumentHivepace`. */
export interface OtelOptions {
  /**
   * Hives, limiters, rate managers and global views whose state is measured. {@link Instrumentation.observe} adds more.
   */
  observe?: readonly Observed[] | undefined;
  /**
   * The source of the meter.
   *
   * @defaultValue the global one, which must be registered before `instrumentHivepace` is called
   */
  meterProvider?: MeterProvider | undefined;
  /**
   * The source of the tracer.
   *
   * @defaultValue the global one
   */
  tracerProvider?: TracerProvider | undefined;
  /**
   * Whether to record metrics.
   *
   * @defaultValue true
   */
  metrics?: boolean | undefined;
  /**
   * Whether to create a span for each wait, and for each request of a limited client.
   *
   * @defaultValue true
   */
  traces?: boolean | undefined;
  /** Adds or removes attributes of metrics and spans. */
  attributes?: AttributeHook | undefined;
}

/** A running instrumentation. */
export interface Instrumentation extends Disposable {
  /** Measures the state of another object until the returned function is called. Closed objects are removed automatically. */
  observe(observed: Observed, attributes?: Attributes): () => void;
  /**
   * Returns a link to the wait before this lease, for a span of your own; `undefined` when the lease was granted at
   * once.
   */
  linkTo(lease: Lease): Link | undefined;
  /** Stops all measurements. Idempotent. */
  stop(): void;
}

const NAME = "@hivepace/otel";

const OPTIONS = {
  observe: true,
  meterProvider: true,
  tracerProvider: true,
  metrics: true,
  traces: true,
  attributes: true,
} as const satisfies OptionNames<OtelOptions>;

/**
 * Reports the activity of all Hivepace objects in this process to OpenTelemetry.
 *
 * @throws InvalidConfigError when an option is invalid.
 *
 * @example
 * ```ts
 * import { MemoryLimiter } from "@hivepace/core";
 * import { instrumentHivepace } from "@hivepace/otel";
 *
 * const limiter = new MemoryLimiter();
 * using instrumentation = instrumentHivepace({ observe: [limiter] });
 * ```
 */
export function instrumentHivepace(options: OtelOptions = {}): Instrumentation {
  checkKnown(options, OPTIONS);
  const { meterProvider, tracerProvider, attributes: hook = same, observe = [] } = options;
  const { metrics = true, traces = true } = options;
  need(meterProvider === undefined || isFunction(meterProvider?.getMeter), "meterProvider", "a MeterProvider");
  need(tracerProvider === undefined || isFunction(tracerProvider?.getTracer), "tracerProvider", "a TracerProvider");
  need(isFunction(hook), "attributes", "a function");
  need(Array.isArray(observe), "observe", "a list");
  for (const [i, observed] of observe.entries()) checkObserved(`observe[${i}]`, observed);
  for (const [option, value] of Object.entries({ metrics, traces }))
    if (typeof value !== "boolean") throw new InvalidConfigError(option, "true or false", value);

  const meter = metrics ? (meterProvider ?? globalMetrics).getMeter(NAME) : undefined;
  const gauges = meter && new Gauges(meter, hook);
  const stopCounting =
    meter && gauges && countEvents(meter, options.attributes, (work) => gauges.beforeCollection(work));
  const tracing = traces ? new Tracing((tracerProvider ?? trace).getTracer(NAME), hook) : undefined;
  let isStopped = false;
  const stop = (): void => {
    if (isStopped) return;
    isStopped = true;
    stopCounting?.();
    gauges?.stop();
    tracing?.stop();
  };
  for (const observed of observe) gauges?.add(observed, {});
  return {
    observe(observed, attributes = {}) {
      checkObserved("observed", observed);
      if (!isStopped) gauges?.add(observed, attributes);
      return () => gauges?.remove(observed);
    },
    linkTo: (lease) => tracing?.linkTo(lease),
    stop,
    [Symbol.dispose]: stop,
  };

  function need(holds: boolean, option: keyof OtelOptions, rule: string): void {
    if (!holds) throw new InvalidConfigError(option, rule, options[option]);
  }
}

const same: AttributeHook = (attributes) => attributes;

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function checkObserved(option: string, observed: Observed): void {
  const { status, snapshot, then } = (observed ?? {}) as { status?: unknown; snapshot?: unknown; then?: unknown };
  if (isFunction(then))
    throw new InvalidConfigError(option, "a hive and not a promise of one: await createHive(…) first", observed);
  if (!isFunction(status) && !isFunction(snapshot))
    throw new InvalidConfigError(option, "an object with status() or snapshot()", observed);
}
