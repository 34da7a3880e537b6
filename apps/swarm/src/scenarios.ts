/** What can be watched. */
export const scenarioNames = ["calm", "surge", "cut", "churn", "partition", "noisy", "without", "alone"] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/** Something that happens to the swarm. */
export type Deed =
  /** The provider allows only this part of its limit from now on. */
  | { readonly type: "limit"; readonly part: number }
  /** An agent ends without a goodbye. */
  | { readonly type: "crash" }
  | { readonly type: "join"; readonly agents: number }
  /** The broker is killed, or agents no longer reach each other; and back. */
  | { readonly type: "bus"; readonly isThere: boolean };

export interface Step {
  /** A part of the run: 0 is its start, 1 its end; and so many windows later. */
  readonly at: number;
  readonly windowsLater?: number;
  readonly deed: Deed;
}

/** "hive": together. "alone": each has a limiter with the whole limit. "without": sends as it comes, and retries as SDKs do. */
export type Pacing = "hive" | "alone" | "without";

export interface Scenario {
  readonly about: string;
  readonly pacing: Pacing;
  /** What all want together, in limits, at this part of the run. */
  demand(at: number): number;
  /** How much an agent wants beside the others; the sum does not matter. */
  weight(agent: number, agents: number): number;
  readonly steps: readonly Step[];
  /** Who is the noisy neighbour, if any. */
  readonly noisy?: number;
}

/** Uneven, as agents are: the first wants the most. */
const uneven = (agent: number): number => (agent + 1) ** -0.7;
const steady = () => 1.5;

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  calm: {
    about: "less demand than the limit",
    pacing: "hive",
    demand: () => 0.7,
    weight: uneven,
    steps: [],
  },
  surge: {
    about: "demand jumps to three times the limit, and falls again",
    pacing: "hive",
    demand: (at) => (at >= 0.3 && at < 0.65 ? 3 : 0.5),
    weight: uneven,
    steps: [],
  },
  cut: {
    about: "the provider cuts the limit to 60 %, and restores it",
    pacing: "hive",
    demand: steady,
    weight: uneven,
    steps: [
      { at: 0.3, deed: { type: "limit", part: 0.6 } },
      // Before the recovery, which takes its steps by itself, would reach what is cut away.
      { at: 0.3, windowsLater: 0.7, deed: { type: "limit", part: 1 } },
    ],
  },
  churn: {
    about: "agents crash and others join",
    pacing: "hive",
    demand: steady,
    weight: uneven,
    steps: [
      { at: 0.25, deed: { type: "crash" } },
      { at: 0.35, deed: { type: "join", agents: 2 } },
      { at: 0.45, deed: { type: "crash" } },
      { at: 0.55, deed: { type: "join", agents: 1 } },
    ],
  },
  partition: {
    about: "the bus goes away, and comes back",
    pacing: "hive",
    demand: steady,
    weight: uneven,
    steps: [
      { at: 0.3, deed: { type: "bus", isThere: false } },
      { at: 0.6, deed: { type: "bus", isThere: true } },
    ],
  },
  noisy: {
    about: "one agent wants four times the limit, the others little",
    pacing: "hive",
    demand: () => 4.6,
    noisy: 0,
    weight: (agent, agents) => (agent === 0 ? 4 : 0.6 / Math.max(1, agents - 1)),
    steps: [],
  },
  without: {
    about: "without Hivepace: every call is sent as it comes, and retried as SDKs do",
    pacing: "without",
    demand: steady,
    weight: uneven,
    steps: [],
  },
  alone: {
    about: "every agent for itself: each has a limiter with the whole limit",
    pacing: "alone",
    demand: steady,
    weight: uneven,
    steps: [],
  },
};
