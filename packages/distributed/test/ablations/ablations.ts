import { at, scaled } from "../../src/engine/index.ts";
import { alone } from "../../src/engine/modes/alone.ts";
import type { Ablation } from "./ablation.ts";

const tokens = { median: 1_500, sigma: 1, from: 50, to: 30_000 };
const busy: Ablation["run"] = {
  agents: 10,
  limits: { tokens: 100_000 },
  demand: { load: 3, tokens },
  duration: 300_000,
};
const burst: Ablation["run"] = {
  agents: 20,
  limits: { requests: 1_000 },
  demand: { load: 0, bursts: [{ at: 20_000, load: 5 }], maxQueue: 5_000 },
  duration: 100_000,
};
const lossy: Ablation["run"] = { ...busy, network: { loss: 0.3 }, duration: 600_000 };
const uneven: Ablation["run"] = {
  agents: 20,
  limits: { requests: 1_000 },
  demand: { load: 1.3 },
  duration: 300_000,
};
const thousand = { requests: 1_000 };
const even = { load: 3, skew: 0 };

export const ablations: readonly Ablation[] = [
  {
    name: "earlier claims keep their capacity: without, the limit is exceeded",
    run: busy,
    seeds: [1, 2, 3, 4],
    figure: ({ max }) => max,
    over: "largest",
    better: "lower",
    present: 1.02,
    absent: 1.05,
    without: { module: "claim.ts", exports: () => ({ claimedAheadOf: () => [0] }) },
    seconds: 1,
  },
  {
    name: "an agent takes only its part of what is free: without, a burst is sent many times over",
    run: burst,
    seeds: [2],
    figure: ({ max }) => max,
    over: "largest",
    better: "lower",
    present: 1.05,
    absent: 2,
    without: { module: "agent.ts", exports: () => ({ shareByWeight: () => 1 }) },
    seconds: 1,
  },
  {
    name: "unconfirmed usage counts until all peers know it: without, the same capacity is taken again",
    run: burst,
    seeds: [2],
    figure: ({ max }) => max,
    over: "largest",
    better: "lower",
    present: 1.05,
    absent: 1.05,
    without: {
      module: "schedule.ts",
      exports: () => ({
        confirmReported: (_, { reporting }) => {
          reporting.unconfirmed.fill(0);
        },
      }),
    },
    seconds: 1,
  },
  {
    name: "urgent messages are retransmitted: without, a lost message is an overshoot",
    run: lossy,
    seeds: [1, 2, 3, 4, 5, 6, 7, 8],
    figure: ({ max }) => max,
    over: "mean",
    better: "lower",
    present: 0.992,
    absent: 0.994,
    without: { tuning: { repeats: 0 } },
    seconds: 2,
  },
  {
    name: "a queue is served at a steady pace: without, a window is spent at once and then again",
    run: { ...busy, limits: { requests: 6_000 }, demand: { load: 3, maxQueue: 500 } },
    seeds: [1],
    figure: ({ seconds }) => Math.max(...seconds.slice(130)),
    over: "largest",
    better: "lower",
    present: 3,
    absent: 4,
    without: { tuning: { contendedMs: 1e9 } },
    seconds: 3,
  },
  {
    name: "a newcomer joins before it sends: without, it takes what others are using",
    run: {
      agents: 12,
      limits: thousand,
      demand: { ...even, bursts: [{ at: 100_001, load: 1, agents: [6, 7, 8, 9, 10, 11] }] },
      absent: [6, 7, 8, 9, 10, 11],
      faults: [{ at: 100_000, type: "join", agents: [6, 7, 8, 9, 10, 11] }],
      duration: 180_000,
    },
    seeds: [1],
    figure: ({ max }) => max,
    over: "largest",
    better: "lower",
    present: 1.02,
    absent: 1.1,
    without: { module: "modes/joining.ts", exports: () => ({ joining: alone }) },
    seconds: 1,
  },
  {
    name: "a newcomer learns the usage of departed peers: without, it counts too little",
    run: {
      agents: 8,
      limits: thousand,
      demand: even,
      absent: [4, 5, 6, 7],
      faults: [
        { at: 100_000, type: "leave", agents: [0, 1, 2] },
        { at: 102_000, type: "join", agents: [4, 5, 6, 7] },
      ],
      duration: 180_000,
    },
    seeds: [1],
    figure: ({ max }) => max,
    over: "largest",
    better: "lower",
    present: 1,
    absent: 1,
    without: { module: "join-snapshot.ts", exports: () => ({ applyJoinSnapshot: () => {} }) },
    seconds: 1,
  },
  {
    name: "capacity is held for a silent peer: without, it is used twice",
    run: {
      agents: 10,
      limits: thousand,
      demand: even,
      faults: [{ at: 120_000, type: "cut", agents: [0, 1, 2, 3, 4], forMs: 60_000 }],
      duration: 240_000,
    },
    seeds: [1],
    figure: ({ refused, cuts }) => Math.min(refused, cuts),
    over: "largest",
    better: "lower",
    present: 0,
    absent: 0,
    // The change affects only peers that miss the silent agent; the isolated agent itself continues unchanged.
    without: { module: "isolation-budget.ts", exports: () => ({ budgetAfter: () => [0] }) },
    seconds: 1,
  },
  {
    name: "one congestion cuts once: without, every refusal cuts again",
    run: {
      agents: 10,
      limits: thousand,
      demand: { load: 1.5, skew: 0 },
      faults: [{ at: 120_000, type: "refuse", agents: [0, 1, 2, 3, 4, 5, 6, 7] }],
      duration: 180_000,
    },
    seeds: [1],
    figure: ({ cuts }) => cuts,
    over: "largest",
    better: "lower",
    present: 1,
    absent: 2,
    without: {
      module: "level.ts",
      exports: ({ refuse }) => ({
        refuse: (level, refused, _known, rules, now, origin) =>
          refuse(level, refused, -Infinity, { ...rules, cooldownMs: 0 }, now, origin),
      }),
    },
    seconds: 1,
  },
  {
    name: "capacity that others leave unused is there for all: without, an equal part each leaves much unused",
    run: uneven,
    seeds: [1],
    figure: ({ use }) => use,
    over: "smallest",
    better: "higher",
    present: 0.95,
    absent: 0.85,
    without: {
      module: "take.ts",
      exports: ({ take }) => ({
        take: (agent, quota, cost, now) =>
          at(quota.usage.own.sum, 0) + at(cost, 0) <= at(quota.limits, 0) / agent.membership.members &&
          take(agent, quota, cost, now),
      }),
    },
    seconds: 1,
  },
  {
    name: "waiting demand is claimed: without, agents that want much get a part of the rest",
    run: uneven,
    seeds: [1],
    figure: ({ use }) => use,
    over: "smallest",
    better: "higher",
    present: 0.95,
    absent: 0.85,
    without: { module: "claim.ts", exports: () => ({ claimFor: () => {} }) },
    seconds: 1,
  },
  {
    name: "virtual time is not saved up: without, an agent that was idle goes first for long",
    run: {
      agents: 6,
      limits: thousand,
      demand: { load: 3, skew: (agent, now) => (agent === 0 && now < 240_000 ? 0 : 1 / 6), maxQueue: 1_000 },
      duration: 330_000,
      measureFrom: 270_000,
    },
    seeds: [1],
    figure: ({ jain }) => jain,
    over: "smallest",
    better: "higher",
    present: 0.95,
    absent: 0.9,
    without: {
      module: "virtual-time.ts",
      exports: () => ({
        nextVirtualTime: ({ own }) => own,
        advance: (virtualTime, size) => {
          virtualTime.own += size;
        },
      }),
    },
    seconds: 1,
  },
  {
    name: "usage of a departed agent stays in the window: without, its capacity is used again",
    run: {
      agents: 10,
      limits: thousand,
      demand: even,
      faults: [{ at: 130_000, type: "leave", agents: [5, 6, 7, 8, 9] }],
      duration: 200_000,
    },
    seeds: [1],
    figure: ({ refused, cuts }) => Math.min(refused, cuts),
    over: "largest",
    better: "lower",
    present: 0,
    absent: 0,
    without: {
      module: "membership.ts",
      exports: ({ depart }) => ({
        depart: (agent, peer, now) => {
          for (const [name, known] of peer.state === "left" ? [] : peer.quotas) {
            agent.quotas.get(name)?.usage.swarm.add(peer.receivedAt, scaled(known.report.used, -1));
            known.report = { ...known.report, used: scaled(known.report.used, 0) };
          }
          depart(agent, peer, now);
        },
      }),
    },
    seconds: 1,
  },
  {
    name: "urgent news is sent at once: without, agents wait for a heartbeat",
    run: { ...busy, demand: { load: 0.3, tokens }, duration: 600_000 },
    seeds: [1],
    figure: ({ wait }) => wait.p99,
    over: "largest",
    better: "lower",
    present: 500,
    absent: 700,
    without: { module: "schedule.ts", exports: () => ({ reportBy: () => {} }) },
    seconds: 1,
  },
  {
    name: "a claim is spread over a while: without, a second's capacity is sent in a moment",
    run: {
      agents: 10,
      limits: { requests: 60_000 },
      demand: { load: 2, skew: 0, maxQueue: 5_000 },
      duration: 240_000,
    },
    seeds: [1],
    figure: ({ busiestTick }) => busiestTick,
    over: "largest",
    better: "lower",
    present: 3,
    absent: 9,
    without: { tuning: { spreadMs: 1 } },
    seconds: 8,
  },
  {
    name: "a claim covers the next calls, too: without, they wait as long again at 80 % of the limit",
    run: { agents: 60, limits: { requests: 600 }, demand: { load: 0.8 }, duration: 180_000 },
    seeds: [4],
    figure: ({ wait }) => wait.p99,
    over: "largest",
    better: "lower",
    present: 450,
    absent: 600,
    without: { tuning: { spare: 0 } },
    seconds: 3,
  },
  {
    name: "an agent slightly behind in virtual time keeps its place: without, weights count for less",
    run: {
      agents: 30,
      limits: thousand,
      demand: { load: 4, skew: 0 },
      weights: Array.from({ length: 30 }, (_, i) => 1 + (i % 4)),
      duration: 300_000,
    },
    seeds: [1],
    figure: ({ jain }) => jain,
    over: "smallest",
    better: "higher",
    present: 0.995,
    absent: 0.98,
    without: { tuning: { lateMs: 0 } },
    seconds: 3,
  },
  {
    name: "a small call may go while a large one waits: without, the limit is used less",
    run: {
      ...busy,
      demand: { load: 3, tokens: { ...tokens, rare: { part: 0.01, tokens: 60_000 } } },
      duration: 600_000,
    },
    // The figure varies more between seeds than the mechanism improves it, so that many seeds are needed.
    seeds: Array.from({ length: 24 }, (_, i) => i + 1),
    figure: ({ use }) => use,
    over: "mean",
    better: "higher",
    worth: 0.005,
    without: { module: "backfill.ts", exports: () => ({ canBackfill: () => false }) },
    seconds: 2,
  },
];
