import type { DeniedEvent, EndedEvent, GrantedEvent, OfResource, WaitedEvent } from "@hivepace/core";
import type { Attributes, Meter } from "@opentelemetry/api";
import { type AttributeHook, errorType, present, snakeCase } from "./attributes.ts";
import { type EventMetric, eventMetrics, SECONDS } from "./catalogue.ts";
import { type Series, SeriesTable } from "./series.ts";
import { type Listeners, listen, safely } from "./subscriptions.ts";

/** Records a measurement. Attributes without an event are complete: the hook has nothing to change in them. */
type Record = (value: number, attributes: Attributes, event?: Parameters<AttributeHook>[1]["event"]) => void;

/**
 * Records counters and histograms from diagnostic events. Returns a function that stops. `beforeCollection` registers work
 * that precedes each collection.
 *
 * An SDK spends about a microsecond on the attributes of each measurement. The events of every call are therefore added up
 * here, with attributes built once per series, and passed on at each collection. A hook may depend on the event, so with
 * a hook every event is passed on by itself.
 */
export function countEvents(
  meter: Meter,
  hook: AttributeHook | undefined,
  beforeCollection: (work: () => void) => void,
): () => void {
  const on = (metric: EventMetric): Record => recorder(meter, metric, hook);
  const decided = on(eventMetrics.decisions);
  const waited = on(eventMetrics.waitDuration);
  const held = on(eventMetrics.leaseDuration);
  const tokens = on(eventMetrics.tokens);
  const refused = on(eventMetrics.refusals);
  const level = on(eventMetrics.levelChanges);
  const availability = on(eventMetrics.availabilityChanges);
  const members = on(eventMetrics.memberChanges);
  const sent = on(eventMetrics.messagesSent);
  const received = on(eventMetrics.messagesReceived);
  const ignored = on(eventMetrics.messagesIgnored);
  const bus = on(eventMetrics.busChanges);
  const synced = on(eventMetrics.syncDuration);
  const called = on(eventMetrics.callDuration);
  const decisions = new SeriesTable();
  const leases = new SeriesTable();
  const usage = new SeriesTable();
  const isPlain = hook === undefined;
  const flush = (): void => {
    decisions.flush(decided);
    usage.flush(tokens);
  };
  beforeCollection(flush);
  const listeners: Listeners = {
    "hivepace:granted": (event) => {
      const { resource, wouldHave, limitedBy } = event;
      const series = isPlain ? decisions.find(event, resource, wouldHave, limitedBy, grantOf) : undefined;
      if (series) add(series, 1);
      else decided(1, grantOf(event), event);
    },
    "hivepace:denied": (event) => {
      const { reason, limitedBy } = event;
      // Unknown names are unbounded, and have one series together.
      const resource = reason === "unknown" ? "" : event.resource;
      const series = isPlain ? decisions.find(event, resource, reason, limitedBy, denialOf) : undefined;
      if (series) add(series, 1);
      else decided(1, denialOf(event), event);
    },
    "hivepace:waited": (event) => {
      const { outcome, limitedBy, waitedMs } = event;
      const limited = { "hivepace.limited_by": limitedBy };
      waited(waitedMs / 1_000, { ...of(event), ...limited, "hivepace.outcome": snakeCase(outcome) }, event);
      // A granted request has its own event, which counts the decision.
      if (outcome !== "granted") decided(1, { ...of(event), ...limited, ...endOf(outcome) }, event);
    },
    "hivepace:ended": (event) => {
      const { resource, how, heldMs } = event;
      const lease = isPlain ? leases.find(event, resource, how, undefined, endedOf) : undefined;
      if (lease) held(heldMs / 1_000, lease.attributes);
      else held(heldMs / 1_000, endedOf(event), event);
      const series = isPlain ? usage.find(event, resource, undefined, undefined, of) : undefined;
      if (series) add(series, event.tokens);
      else tokens(event.tokens, of(event), event);
    },
    "hivepace:announced": (event) =>
      refused(1, { ...of(event), "hivepace.refusal.kind": event.kind ?? "limit" }, event),
    "hivepace:level": (event) => level(1, { ...of(event), "hivepace.level.cause": event.cause }, event),
    "hivepace:availability": (event) => {
      const { state, cause, source, resource } = event;
      // Model names come from requests and are unbounded, so they are not used as an attribute.
      const of = { "hivepace.source": source, "hivepace.resource": resource };
      const attributes = { "hivepace.availability.state": state, "hivepace.availability.cause": snakeCase(cause) };
      availability(1, { ...of, ...attributes }, event);
    },
    "hivepace:member": (event) => members(1, { "hivepace.member.change": event.change }, event),
    "hivepace:published": (event) =>
      sent(1, { "hivepace.message.type": event.message, "error.type": errorType(event.error) }, event),
    "hivepace:received": (event) => received(1, { "hivepace.message.type": event.message }, event),
    "hivepace:ignored": (event) =>
      ignored(1, { "hivepace.message.type": event.message, "hivepace.reason": event.reason }, event),
    "hivepace:bus": (event) => bus(1, { "hivepace.bus.name": event.bus, "hivepace.bus.state": event.state }, event),
    "hivepace:synced": (event) => {
      const attributes = { "hivepace.sync.operation": event.operation, "error.type": errorType(event.error) };
      synced(event.durationMs / 1_000, attributes, event);
    },
    "hivepace:sent": (event) => {
      const { resource, provider, retries, outcome, refusal, error, durationMs } = event;
      const attributes = {
        "hivepace.resource": resource,
        "hivepace.provider": provider,
        "hivepace.call.outcome": outcome,
        "hivepace.call.retry": retries > 0,
        "error.type": refusal ?? errorType(error),
      };
      called(durationMs / 1_000, attributes, event);
    },
  };
  const stop = listen(listeners);
  return () => {
    stop();
    safely(flush);
  };
}

function add(series: Series, value: number): void {
  series.sum += value;
  series.hasChanged = true;
}

function recorder(
  meter: Meter,
  { kind, name, unit, description }: EventMetric,
  hook: AttributeHook | undefined,
): Record {
  const advice = { explicitBucketBoundaries: SECONDS };
  const instrument =
    kind === "counter"
      ? meter.createCounter(name, { unit, description })
      : meter.createHistogram(name, { unit, description, advice });
  const record = "add" in instrument ? instrument.add.bind(instrument) : instrument.record.bind(instrument);
  return (value, attributes, event) => {
    if (!event) record(value, attributes);
    else record(value, hook ? hook(present(attributes), { name, event }) : present(attributes));
  };
}

function of({ source, resource, model }: OfResource): Attributes {
  return { "hivepace.source": source, "hivepace.resource": resource, "hivepace.model": model };
}

function grantOf(event: GrantedEvent): Attributes {
  const { wouldHave, limitedBy } = event;
  const outcome = wouldHave === undefined ? "granted" : wouldHave === "waited" ? "would_wait" : "would_deny";
  return { ...of(event), "hivepace.outcome": outcome, "hivepace.limited_by": limitedBy };
}

function endedOf(event: EndedEvent): Attributes {
  return { ...of(event), "hivepace.lease.end": event.how };
}

function denialOf(event: DeniedEvent): Attributes {
  const { reason, limitedBy } = event;
  const attributes = {
    ...of(event),
    "hivepace.outcome": "denied",
    "hivepace.reason": snakeCase(reason),
    "hivepace.limited_by": limitedBy,
  };
  // Unknown names are unbounded, so they are not used as an attribute.
  return reason === "unknown" ? { ...attributes, "hivepace.resource": undefined } : attributes;
}

function endOf(outcome: Exclude<WaitedEvent["outcome"], "granted">): Attributes {
  if (outcome === "aborted") return { "hivepace.outcome": "aborted" };
  return { "hivepace.outcome": "denied", "hivepace.reason": snakeCase(outcome) };
}
