import type { Lease, OfResource, SendingEvent, SentEvent, WaitedEvent, WaitingEvent } from "@hivepace/core";
import {
  type Attributes,
  context,
  type Link,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type AttributeHook, errorType, present, snakeCase } from "./attributes.ts";
import { listen } from "./subscriptions.ts";

/** The names of Hivepace's spans. */
export const spanNames = { wait: "hivepace.wait", call: "hivepace.call" } as const;

/** The wait that preceded a lease. */
interface Waited {
  readonly spanContext: SpanContext;
  readonly waitedMs: number;
}

/**
 * Creates a span for each wait, as a child of the caller's span, and a span for each request of a limited client,
 * linked to the wait before it. Spans created while sending, such as those of an HTTP client, are children of the
 * latter.
 */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #hook: AttributeHook;
  readonly #open = new Map<object, Span>();
  readonly #waited = new WeakMap<Lease, Waited>();
  readonly #stop: () => void;

  constructor(tracer: Tracer, hook: AttributeHook) {
    this.#tracer = tracer;
    this.#hook = hook;
    this.#stop = listen({
      "hivepace:waiting": (event) => this.#begin(event),
      "hivepace:waited": (event) => this.#end(event),
      "hivepace:sending": (event) => this.#send(event),
      "hivepace:sent": (event) => this.#sent(event),
    });
  }

  /** Returns a link to the wait before this lease; `undefined` when the lease was granted at once. */
  linkTo(lease: Lease): Link | undefined {
    const waited = this.#waited.get(lease);
    return waited && { context: waited.spanContext, attributes: { "hivepace.link": "wait" } };
  }

  stop(): void {
    this.#stop();
    for (const span of this.#open.values()) span.end();
    this.#open.clear();
  }

  #begin(event: WaitingEvent): void {
    const { wait, cost, limitedBy } = event;
    const attributes = { ...of(event), "hivepace.cost": cost, "hivepace.limited_by": limitedBy };
    this.#open.set(wait, this.#start(spanNames.wait, attributes, event, []));
  }

  #end({ wait, outcome, lease, waitedMs }: WaitedEvent): void {
    const span = this.#take(wait);
    if (!span) return;
    span.setAttribute("hivepace.outcome", snakeCase(outcome));
    // An abort is the caller's decision and no error.
    if (outcome !== "granted" && outcome !== "aborted")
      span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
    if (lease) this.#waited.set(lease, { spanContext: span.spanContext(), waitedMs });
    span.end();
  }

  #send(event: SendingEvent): void {
    const { call, resource, model, provider, retries, delayMs, moves, movedFrom, lease } = event;
    const waited = this.#waited.get(lease);
    const attributes = {
      "hivepace.resource": resource,
      "hivepace.model": model,
      "hivepace.provider": provider,
      "hivepace.call.retries": retries,
      "hivepace.call.delay": delayMs > 0 ? delayMs / 1_000 : undefined,
      "hivepace.call.moves": moves > 0 ? moves : undefined,
      "hivepace.call.moved_from": movedFrom?.resource,
      "hivepace.call.moved_from_model": movedFrom?.model,
      "hivepace.waited": waited === undefined ? 0 : waited.waitedMs / 1_000,
    };
    const link = this.linkTo(lease);
    const span = this.#start(spanNames.call, attributes, event, link ? [link] : []);
    this.#open.set(call, span);
    const inside = trace.setSpan(context.active(), span);
    event.within((send) => context.with(inside, send));
  }

  #sent({ call, outcome, refusal, error }: SentEvent): void {
    const span = this.#take(call);
    if (!span) return;
    span.setAttribute("hivepace.call.outcome", outcome);
    if (outcome !== "answered") {
      const type = refusal ?? errorType(error) ?? outcome;
      span.setAttribute("error.type", type);
      span.setStatus({ code: SpanStatusCode.ERROR, message: type });
    }
    span.end();
  }

  #start(name: string, given: Attributes, event: WaitingEvent | SendingEvent, links: Link[]): Span {
    const attributes = this.#hook(present(given), { name, event });
    return this.#tracer.startSpan(name, { attributes, links }, context.active());
  }

  #take(key: object): Span | undefined {
    const span = this.#open.get(key);
    this.#open.delete(key);
    return span;
  }
}

function of({ source, resource, model }: OfResource): Attributes {
  return { "hivepace.source": source, "hivepace.resource": resource, "hivepace.model": model };
}
