import type { Child } from "./child.ts";
import type { Seen } from "./figures.ts";
import type { Fault } from "./options.ts";
import { type Swarm, WINDOW_MS } from "./swarm.ts";

const AWAY_MS = 3_000;
const STOPPED_MS = 2_000;
const GUESTS = 2;

export interface Scene {
  readonly swarm: Swarm;
  readonly seen: Seen;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
  /** Unique within a run. */
  readonly round: number;
}

/** Injects each fault, and resolves when the swarm has recovered. */
export const HAPPENINGS: Readonly<Record<Fault, (scene: Scene) => Promise<void>>> = {
  async refuse({ swarm, seen }) {
    // Refusals within one window count as one congestion, so earlier refusals of the provider must have expired.
    const last = Math.max(0, ...swarm.all.flatMap(({ refusals }) => refusals));
    await swarm.use(Math.max(0, last + WINDOW_MS - Date.now()));
    await swarm.healed();
    for (const child of swarm.all) [child.cuts, child.refusals] = [[], []];
    swarm.parts.provider.failNext("rate-limited");
    seen.ordered++;
    await swarm.until(() => swarm.all.every(({ cuts }) => cuts.length > 0), "every agent has cut its limit");
    const firstAt = Math.min(...swarm.all.flatMap(({ refusals }) => refusals));
    seen.cutMs.push(Math.max(...swarm.all.map(({ cuts }) => (cuts[0] as number) - firstAt)));
    await swarm.healed();
    seen.cuts.push(Math.max(...swarm.all.map(({ cuts }) => cuts.length)));
  },

  async "kill-broker"({ swarm, seen }) {
    const { server } = swarm.parts;
    await server.kill();
    seen.useWhileAway.push(await swarm.use(AWAY_MS));
    await server.start();
    const backAt = performance.now();
    await swarm.healed();
    seen.healMs.push(performance.now() - backAt);
  },

  async "stop-broker"({ swarm }) {
    const { server } = swarm.parts;
    await server.pause();
    try {
      await swarm.use(AWAY_MS);
    } finally {
      await server.resume();
    }
    await swarm.healed();
  },

  async "stop-agent"({ swarm, random }) {
    const sleeper = swarm.staying[Math.floor(random() * swarm.staying.length)] as Child;
    sleeper.signal("SIGSTOP");
    try {
      await swarm.use(STOPPED_MS);
    } finally {
      sleeper.signal("SIGCONT");
    }
    await swarm.healed();
  },

  async "kill-agent"({ swarm }) {
    await swarm.replaceable.kill();
    swarm.replaceable = swarm.start();
    await swarm.healed();
  },

  async "join-leave"({ swarm }) {
    for (let i = 0; i < GUESTS; i++) swarm.guests.push(swarm.start());
    await swarm.healed();
    const leaving = swarm.guests;
    swarm.guests = [];
    await Promise.all(leaving.map((child) => swarm.leave(child)));
    await swarm.healed();
  },

  async churn({ swarm, round }) {
    await Promise.all(swarm.staying.map((child) => child.ask("churn", round)));
    await swarm.healed();
  },
};

/** Returns the list in random order. */
export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(random() * left.length), 1)[0] as T);
}
