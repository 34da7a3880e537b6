/** The scenarios of the demo. */
export const scenarioNames = ["calm", "surge", "cut", "churn", "partition", "noisy"] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/** A change to the swarm or its environment. */
export type Deed =
  /** The provider's limit changes to this fraction. */
  | { readonly type: "limit"; readonly part: number }
  /** One agent crashes, without closing its hive. */
  | { readonly type: "crash" }
  | { readonly type: "join"; readonly agents: number }
  /** The broker is killed (or the agents are disconnected from it), or restored. */
  | { readonly type: "bus"; readonly isThere: boolean };

export interface Step {
  /**
   * The fraction of the run at which the step happens: 0 is the start, 1 the end; `windowsLater` adds whole windows.
   */
  readonly at: number;
  readonly windowsLater?: number;
  readonly deed: Deed;
}

export interface Scenario {
  readonly about: string;
  /** Total demand as a multiple of the limit, at this fraction of the run. */
  demand(at: number): number;
  /** Relative demand of an agent; the sum does not matter. */
  weight(agent: number, agents: number): number;
  readonly steps: readonly Step[];
  /** The index of the noisy neighbour, if any. */
  readonly noisy?: number;
}

/** Uneven demand: the first agent has the most. */
const uneven = (agent: number): number => (agent + 1) ** -0.7;
const steady = () => 1.5;

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  calm: {
    about: "less demand than the limit",
    demand: () => 0.7,
    weight: uneven,
    steps: [],
  },
  surge: {
    about: "demand jumps to three times the limit, and falls again",
    demand: (at) => (at >= 0.3 && at < 0.65 ? 3 : 0.5),
    weight: uneven,
    steps: [],
  },
  cut: {
    about: "the provider cuts the limit to 60 % for a minute, and restores it",
    demand: steady,
    weight: uneven,
    steps: [
      { at: 0.15, deed: { type: "limit", part: 0.6 } },
      { at: 0.15, windowsLater: 1, deed: { type: "limit", part: 1 } },
    ],
  },
  churn: {
    about: "agents crash and others join",
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
    demand: steady,
    weight: uneven,
    steps: [
      { at: 0.3, deed: { type: "bus", isThere: false } },
      { at: 0.6, deed: { type: "bus", isThere: true } },
    ],
  },
  noisy: {
    about: "one agent wants four times the limit, the others little",
    demand: () => 4.6,
    noisy: 0,
    weight: (agent, agents) => (agent === 0 ? 4 : 0.6 / Math.max(1, agents - 1)),
    steps: [],
  },
};
