import type { Attributes } from "@opentelemetry/api";
import { snakeCase } from "./attributes.ts";
import type { statusMetrics } from "./catalogue.ts";
import type {
  Observed,
  ObservedCount,
  ObservedEndpoint,
  ObservedResource,
  ObservedSlots,
  ObservedStatus,
} from "./sources.ts";

/** Records one value of a metric. */
export type Note = (metric: keyof typeof statusMetrics, value: number | undefined, attributes?: Attributes) => void;

const BUS_STATES = ["connecting", "ready", "interrupted", "closed", "none"];
const MODES = ["joining", "alone", "member", "isolated"];

/** Reads the state of an object. Returns false when the object is closed. */
export function read(observed: Observed, noteOf: Note): boolean {
  if (!("status" in observed)) {
    for (const count of observed.snapshot({ keys: false }).endpoints) readCount(count, noteOf);
    return true;
  }
  const status = observed.status();
  if (status.mode === "closed" || status.state === "closed") return false;
  const common = { "hivepace.namespace": status.namespace };
  const note: Note = (metric, value, attributes) => noteOf(metric, value, { ...common, ...attributes });
  readAgent(status, note);
  for (const resource of status.resources ?? []) readResource(resource, note);
  for (const endpoint of status.endpoints ?? []) readEndpoint(endpoint, note);
  return true;
}

function readAgent(status: ObservedStatus, note: Note): void {
  const { mode, bus, members, isDuplicate } = status;
  note("members", members);
  // A limiter in memory has no members, and its mode carries no information.
  if (members !== undefined && mode !== undefined)
    for (const each of MODES) note("agentStatus", Number(each === snakeCase(mode)), { "hivepace.agent.mode": each });
  if (bus !== undefined)
    for (const each of BUS_STATES) note("busStatus", Number(each === bus), { "hivepace.bus.state": each });
  note("duplicates", isDuplicate === undefined ? undefined : Number(isDuplicate));
  note("busSilence", seconds(status.viewAgeMs));
  note("syncAge", seconds(status.sync?.ageMs ?? status.ageMs), { "hivepace.sync.operation": "sync" });
  note("syncAge", seconds(status.storeAgeMs), { "hivepace.sync.operation": "share" });
}

function readResource(resource: ObservedResource, note: Note): void {
  const of = { "hivepace.resource": resource.resource };
  const limit = { ...of, "hivepace.dimension": "capacity" };
  note("level", resource.level, of);
  note("pause", seconds(resource.pausedForMs), of);
  note("configured", resource.configured ?? resource.total, limit);
  note("total", resource.total, limit);
  note("share", resource.share, limit);
  note("inFlight", resource.inFlight, of);
  note("waiting", resource.waiting, of);
  readSlots(resource.slots, of, note);
}

function readEndpoint(endpoint: ObservedEndpoint, note: Note): void {
  const of = { "hivepace.resource": endpoint.endpoint, "hivepace.model": endpoint.model };
  note("level", endpoint.level, of);
  note("pause", seconds(endpoint.pausedForMs), of);
  note("available", endpoint.availability && Number(endpoint.availability.state === "available"), of);
  note("inFlight", endpoint.inFlight, of);
  note("waiting", endpoint.waiting, of);
  readSlots(endpoint.slots, of, note);
  for (const { dimension, limit, total, used, usedHere, share } of endpoint.limits) {
    const attributes = { ...of, "hivepace.dimension": snakeCase(dimension) };
    note("configured", limit, attributes);
    note("total", total, attributes);
    note("used", used, attributes);
    note("usedHere", usedHere, attributes);
    note("share", share, attributes);
  }
}

function readSlots(
  slots: ObservedSlots | undefined,
  of: Readonly<Record<string, string | undefined>>,
  note: Note,
): void {
  if (!slots) return;
  const attributes = { ...of, "hivepace.dimension": "in_flight" };
  note("total", slots.limit, attributes);
  note("used", slots.used, attributes);
  note("usedHere", slots.usedHere, attributes);
}

function readCount(count: ObservedCount, note: Note): void {
  const of = { "hivepace.resource": count.id, "hivepace.model": count.model };
  // Without a limit on concurrency the rate manager does not count requests in flight.
  if (count.maxInFlightPerProcess < Infinity) note("inFlight", count.inFlight, of);
  const dimensions = [
    ["requests", count.requests, count.rpmLimit],
    ["tokens", count.tokens, count.tpmLimit],
    ["input_tokens", count.inputTokens, count.inputTpmLimit],
    ["output_tokens", count.outputTokens, count.outputTpmLimit],
  ] as const;
  for (const [dimension, used, limit] of dimensions) {
    const attributes = { ...of, "hivepace.dimension": dimension };
    if (limit < Infinity || used > 0) note("usedHere", used, attributes);
    note("configured", limit, attributes);
  }
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}
