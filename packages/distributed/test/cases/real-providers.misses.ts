/** A figure that a scenario misses at present, and its goal. */
export interface Miss {
  readonly present: number;
  readonly wanted: number;
}

/** Figures of one case, by name. */
type Misses = Readonly<Record<string, Miss>>;

function miss(present: number, wanted: number): Miss {
  return { present, wanted };
}

/**
 * Known figures that hives miss in front of realistic providers. These figures are measured but not asserted; all other
 * figures of these cases, and all laws, are asserted. Remove a figure when it meets its goal.
 */
export const KNOWN_MISSES: Readonly<Record<string, Misses>> = {
  // A provider that counts at the end of calls differs from agents that count at their start, so that a few calls are
  // refused at random.
  "real-providers/providers/calls-of-5-to-30-s-counted-at-the-end-by-usage-exact-estimates": {
    use: miss(0.868, 0.92),
  },
  // A failed probe costs about four refusals: the calls sent before all agents know of the first one.
  "real-providers/providers/the-true-limit-is-40-percent-of-the-configured-one-and-refused-calls-count": {
    "refused part": miss(0.013, 0.01),
  },
  // At a steady pace the bound is 0.83: after the drop no call is accepted for 24 s, and again one window later.
  "real-providers/providers/the-provider-falls-to-60-percent-for-two-minutes": {
    "use of what is allowed meanwhile": miss(0.767, 0.95),
    "use 20 s later": miss(0.968, 0.97),
  },
  "real-providers/providers/another-program-uses-30-to-70-percent-of-the-account-varying": {
    "use of what is left": miss(0.885, 0.9),
    "refused part": miss(0.016, 0.01),
  },
  // Agents have no shared limit of calls in flight.
  "real-providers/providers/the-provider-runs-20-calls-at-a-time": { "refused part": miss(0.059, 0.01) },
  // Calls that the reduced endpoint refused return to the queue.
  "real-providers/traffic/calls-to-any-of-three-endpoints-of-which-one-falls-to-a-tenth": {
    "wait p99, ms": miss(2_745, 2_000),
  },
  // A small call waits behind large ones although the exhausted dimension does not limit it.
  "real-providers/traffic/small-calls-beside-huge-ones": { "wait p50, ms": miss(31_921, 1_000) },
  // Each newcomer learns the usage of those before it in bins of a twelfth of the window, so that after a few incarnations usage
  // is counted for too long.
  "real-providers/swarms/incarnations-of-twenty-seconds-with-a-goodbye": { use: miss(0.652, 0.9) },
  // A short split is not noticed. An agent that starts behind a split uses a share that the others use, too: for five
  // agents the bound is 1.2.
  "real-providers/swarms/a-partition-in-halves-for-5-s-with-a-burst-on-both-sides": { max: miss(1.87, 1.1) },
  "real-providers/swarms/an-agent-starts-behind-a-partition-with-expectedagents": { max: miss(1.187, 1.1) },
};
