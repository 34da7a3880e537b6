import { memoryBus } from "@hivepace/bus";
import { bytes, text } from "@hivepace/test-kit";
import { observeSwarm, PRESENCE_SUBJECT } from "../../src/index.ts";
import { HostileMessages } from "./hostile-messages.ts";
import { seededIncarnations } from "./seeded-incarnations.ts";
import { RESOURCE, TestSwarm } from "./swarm.ts";

const WINDOW_MS = 60_000;
const LIMIT = 120;
const AGENTS = 3;
/** Time from the last hostile message until the swarm uses its limit again. */
const HEALED_MS = 2 * WINDOW_MS;
/** Usage is measured over several windows, because agents that spend a window at its beginning do so again one window later. */
const MEASURED_WINDOWS = 3;

/** What a swarm under load did while a stranger sent hostile messages, and after that. */
export interface Attacked {
  readonly messages: number;
  /** The most that was sent in any window. */
  readonly largest: number;
  /** The level two windows later, and the calls in a window after that. */
  readonly level: number;
  readonly sentAfter: number;
  /** The most peers that an agent remembered. */
  readonly peers: number;
  /** Real agents that each agent knows in the end. */
  readonly members: readonly number[];
}

/** A stranger without the secret attacks a swarm under load for a window, in virtual time. The same seed repeats the run. */
export async function attack(seed: number): Promise<Attacked> {
  const restore = seededIncarnations();
  const swarm = new TestSwarm();
  try {
    const agents = await swarm.start(AGENTS, LIMIT, WINDOW_MS, { expectedAgents: AGENTS });
    const hostile = new HostileMessages(seed, RESOURCE, LIMIT, WINDOW_MS);
    const bus = await memoryBus(swarm.broker, { clock: swarm.clock });
    const observing = { bus: memoryBus(swarm.broker, { clock: swarm.clock }), namespace: "", clock: swarm.clock };
    await using observer = await observeSwarm(observing);
    const spoken = new Map<string, Record<string, unknown> & { seq: number; life: number }>();
    await bus.subscribe(PRESENCE_SUBJECT, (payload) => {
      const message = JSON.parse(text(payload));
      if (message.isForged === undefined) spoken.set(message.agent_id, message);
    });
    for (const agent of agents) swarm.call(agent);
    await swarm.clock.run(5_000);
    let messages = 0;
    let peers = 0;
    const perMessageMs = 20 + hostile.whole(2_000);
    for (const end = swarm.clock.now() + WINDOW_MS; swarm.clock.now() < end; messages++) {
      const { subject, message, chain } = hostile.next([...spoken.values()]);
      const payload = bytes(JSON.stringify({ ...message, isForged: true }));
      await bus.publish(subject, chain?.linked(payload) ?? payload);
      await swarm.clock.run(perMessageMs);
      for (const { limiter } of agents) peers = Math.max(peers, limiter.status().peers.length);
      observer.snapshot();
    }
    await swarm.clock.run(HEALED_MS);
    const from = swarm.clock.now();
    const level = Math.min(...agents.map(({ limiter }) => limiter.status().resources[0]?.level ?? 1));
    await swarm.clock.run(MEASURED_WINDOWS * WINDOW_MS);
    const sentAfter = swarm.sentSince(from) / MEASURED_WINDOWS;
    const real = new Set(agents.map(({ limiter }) => limiter.agentId));
    const members = agents.map(
      ({ limiter }) =>
        1 + limiter.status().peers.filter(({ agentId, state }) => real.has(agentId) && state === "live").length,
    );
    return { messages, largest: swarm.largest(WINDOW_MS), level, sentAfter, peers, members };
  } finally {
    await swarm.close();
    restore();
  }
}

/** Returns the law that an attack has broken; undefined when all hold. */
export function violationOf({ largest, peers, members }: Attacked): string | undefined {
  if (largest > LIMIT) return `${largest} calls in a window, ${LIMIT} are allowed`;
  if (peers > 4_096) return `${peers} agents are remembered`;
  return members.every((count) => count === AGENTS) ? undefined : `${members} real agents are known`;
}

/** True when the swarm has not healed. A cut recovers as after a refusal of the provider, so the level counts. */
export function isSlow({ level, sentAfter }: Attacked): boolean {
  return sentAfter < 0.8 * Math.floor(LIMIT * level) - 2;
}
