import type { ObservedLimit, ObservedResource, ObservedUse } from "@hivepace/distributed";
import type { Settings } from "./options.ts";
import type { Frame, LimitFrame, ResourceFrame } from "./wire.ts";

type Sources = Pick<Settings, "observer" | "provider" | "globalUsage" | "clock">;

const NOTHING = { bus: "closed", observedMs: 0, members: 0, agents: [], resources: [], heard: 0, ignored: {} } as const;

/**
 * What is now. Whoever fails to say takes nothing else down: what was last known of the swarm stays, and the frame says
 * what the trouble is.
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
    const { bus, observedMs, members, agents, resources, heard, ignored } = observer.snapshot();
    return { bus, observedMs, members, agents, resources: resources.map(resourceFrame), heard, ignored };
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

const useFrame = ({ agentId, used, share, waiting, waitedMs }: ObservedUse): ObservedUse => ({
  agentId,
  used: used.map(short),
  share: share.map(short),
  waiting: waiting.map(short),
  waitedMs: Math.round(waitedMs),
});

/** Figures for people: a thousand agents with all their digits would be twice the message. */
const short = (value: number): number => Math.round(value * 100) / 100;
const finite = (value: number): number | null => (Number.isFinite(value) ? short(value) : null);
