import type { ObservedLimit, ObservedResource, ObservedUse } from "@hivepace/distributed";
import type { Settings } from "./options.ts";
import { byPressure } from "./pressure.ts";
import type { Frame, LimitFrame, ResourceFrame } from "./wire.ts";

type Sources = Pick<Settings, "observer" | "provider" | "globalUsage" | "clock">;

const NOTHING = {
  bus: "closed",
  observedMs: 0,
  members: 0,
  agents: [],
  resources: [],
  keys: [],
  keyCount: 0,
  availability: [],
  received: 0,
  ignored: {},
} as const;
/** Maximum number of tenant keys in a frame; there may be one key per tenant. */
const MOST_KEYS = 50;

/**
 * Reads the current state. A source that throws does not affect the others: its last known state stays, and the frame
 * reports the error.
 */
export function frameOf({ observer, provider, globalUsage, clock }: Sources, last: Frame | undefined): Frame {
  const troubles: string[] = [];
  const read = <T>(what: string, reading: () => T): T | undefined => {
    try {
      return reading();
    } catch (error) {
      troubles.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  const swarm = read("observer", () => {
    const { resources, keys, ...rest } = observer.snapshot();
    const worst = keys.map((key) => ({ ...resourceFrame(key), isKey: true as const })).sort(byPressure);
    return {
      ...rest,
      resources: resources.map(resourceFrame),
      keys: worst.slice(0, MOST_KEYS),
      keyCount: keys.length,
    };
  });
  const facts = read("provider", provider);
  const usage = globalUsage && read("globalUsage", globalUsage);
  return {
    ...(swarm ?? last ?? NOTHING),
    at: clock.epochMs(),
    provider: facts,
    globalUsage: usage ?? (globalUsage && (last?.globalUsage ?? [])),
    trouble: troubles.length > 0 ? troubles.join("; ") : undefined,
  };
}

function resourceFrame(observed: ObservedResource): ResourceFrame {
  const { resource, windowMs, level, cause, pausedForMs, risesInMs } = observed;
  const limits = observed.limits.map(limitFrame);
  return { resource, windowMs, level, cause, pausedForMs, risesInMs, limits, agents: observed.agents.map(useFrame) };
}

function limitFrame({ dimension, limit, total, used, usedSince, waiting }: ObservedLimit): LimitFrame {
  return {
    dimension,
    limit: finite(limit),
    total: finite(total),
    used: short(used),
    usedSince: short(usedSince),
    waiting: short(waiting),
  };
}

const useFrame = ({ agentId, used, share, waiting, waitedMs, heldMs }: ObservedUse): ObservedUse => ({
  agentId,
  used: used.map(short),
  share: share.map(short),
  waiting: waiting.map(short),
  waitedMs: Math.round(waitedMs),
  heldMs: Math.round(heldMs),
});

/** Rounds figures: with all digits, the message about a thousand agents would be twice as long. */
const short = (value: number): number => Math.round(value * 100) / 100;
const finite = (value: number): number | null => (Number.isFinite(value) ? short(value) : null);
