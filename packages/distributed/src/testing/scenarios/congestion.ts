import { useBetween } from "../recorder.ts";
import { atLeast, atMost, MINUTE, type Scenario, SECOND, some, thousand, within } from "./scenario.ts";

const busy = { load: 3 } as const;

/** Time to recover from a cut to this level: the level grows by 10 % every 30 s. */
function recoveryMs(base: number): number {
  return Math.ceil(Math.log(1 / base) / Math.log(1.1)) * 30 * SECOND;
}

/**
 * The provider refuses calls because it allows less than configured, because others use the account, or for no reason.
 */
export const congestion: readonly Scenario[] = [
  ...([0.1, 0.5, 1] as const).map(
    (part): Scenario => ({
      name: `${part * 100} % of the agents are refused at once`,
      options: (agents) => ({
        // The limit grows with the swarm, so that every agent sends its next call soon.
        limits: { requests: 100 * agents },
        demand: { load: 0.5, skew: 0 },
        faults: [{ at: 4 * MINUTE, type: "refuse", agents: some(agents, part) }],
        duration: 6 * MINUTE,
      }),
      figures: (report) => [
        atMost("cuts", report.cuts, 1),
        atLeast("cuts", report.cuts, 1),
        atMost("cut known everywhere, ms", report.cutSpreadMs, 200),
      ],
      mostAgents: 100,
    }),
  ),
  ...(["sliding", "fixed", "bucket"] as const).flatMap((kind) =>
    ([0.6, 0.1, 0] as const).map(
      (factor): Scenario => ({
        name: `the provider falls to ${factor * 100} % for two minutes (${kind})`,
        options: () => ({
          limits: thousand,
          demand: busy,
          provider: { kind },
          faults: [{ at: 4 * MINUTE, type: "provider", factor, forMs: 2 * MINUTE }],
          duration: 16 * MINUTE,
        }),
        figures: (report) => [
          atMost("cuts", report.cuts, factor === 0.6 ? 2 : 3),
          atMost("refused part", report.refused / report.sent, 0.03),
          atLeast("use in the end", useBetween(report, 15 * MINUTE, 16 * MINUTE), 0.95),
          atMost("levels in the end", report.levels, 1),
        ],
      }),
    ),
  ),
  {
    name: "the provider refuses everything for half an hour",
    options: () => ({
      limits: thousand,
      demand: { load: 1 },
      faults: [{ at: 3 * MINUTE, type: "provider", factor: 0, forMs: 30 * MINUTE }],
      duration: 33 * MINUTE + recoveryMs(0.001) + 3 * MINUTE,
    }),
    figures: (report) => [
      atLeast("refused", report.refused, 100),
      atMost("refused", report.refused, 1_000),
      atLeast("use when whole again", useBetween(report, report.durationMs - MINUTE, report.durationMs), 0.95),
      atMost("levels in the end", report.levels, 1),
    ],
    mostAgents: 20,
  },
  {
    name: "one spurious refusal, at 5 % load",
    options: () => ({
      limits: thousand,
      demand: { load: (now) => (now < 5 * MINUTE + recoveryMs(0.5) ? 0.05 : 3), skew: 0 },
      faults: [{ at: 4 * MINUTE, type: "refuse", agents: [0] }],
      duration: 16 * MINUTE,
    }),
    figures: (report) => [
      atMost("cuts", report.cuts, 1),
      atLeast("use when whole again", useBetween(report, 13 * MINUTE, 16 * MINUTE), 0.95),
    ],
    mostAgents: 100,
  },
  ...(
    [
      [1_000, 0.5],
      [60_000, 0.605],
    ] as const
  ).map(
    ([retryAfterMs, level]): Scenario => ({
      name: `a refusal asks for ${retryAfterMs / 1000} s`,
      options: () => ({
        limits: { requests: 6_000 },
        demand: { load: 0.9, skew: 0, maxQueue: 1_000 },
        faults: [{ at: 4 * MINUTE, type: "refuse", agents: [0], retryAfterMs }],
        duration: 8 * MINUTE,
      }),
      figures: (report) => {
        const resumed = (4 * MINUTE + retryAfterMs) / SECOND;
        return [
          atMost("cuts", report.cuts, 1),
          // One second's worth of the level may accumulate in the pause, and another comes in that second.
          atMost("first second, in levels", Math.max(...report.seconds.slice(resumed, resumed + 3)) / level, 2),
          atMost("sent in the pause", Math.max(0, ...report.seconds.slice(4 * 60 + 1, resumed)), 0),
        ];
      },
      mostAgents: 100,
    }),
  ),
  {
    name: "a newcomer, when the announcement was lost",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 3, skew: 0 },
      absent: [agents - 1],
      faults: [
        { at: 4 * MINUTE, type: "refuse", agents: [0] },
        { at: 4 * MINUTE + 1_500, type: "join", agents: [agents - 1] },
      ],
      duration: 6 * MINUTE,
    }),
    figures: (report) => [
      ...within(report, 1.02).slice(0, 1),
      atMost("cuts", report.cuts, 1),
      // Two recovery steps after the cut, with a tolerance of 10 % above the level.
      atMost("use", useBetween(report, 5 * MINUTE, 5.4 * MINUTE), 1.1 * 0.5 * 1.1 ** 2),
      atMost("levels in the end", report.levels, 1),
    ],
  },
  {
    name: "a newcomer has everyone's level before it may send",
    options: (agents) => ({
      limits: thousand,
      demand: { load: 3, skew: 0 },
      absent: [agents - 1],
      faults: [
        { at: 4.5 * MINUTE, type: "refuse", agents: [0] },
        { at: 4.5 * MINUTE + 5_000, type: "join", agents: [agents - 1] },
      ],
      // The run ends when the newcomer has finished joining.
      duration: 4.5 * MINUTE + 5_000 + 1_250,
    }),
    figures: (report) => [
      atMost("cuts", report.cuts, 1),
      atLeast("cuts", report.cuts, 1),
      atMost("levels", report.levels, 1),
    ],
  },
  ...[0.2, 0.5].map(
    (loss): Scenario => ({
      name: `a refusal, while ${loss * 100} % of the messages are lost`,
      options: () => ({
        limits: thousand,
        demand: busy,
        network: { loss },
        faults: [{ at: 4 * MINUTE, type: "refuse", agents: [0] }],
        duration: 5 * MINUTE,
      }),
      figures: (report) => [
        atMost("cuts", report.cuts, 1),
        atMost("cut known everywhere, ms", report.cutSpreadMs, 3_000),
        atMost("levels in the end", report.levels, 1),
      ],
      mostAgents: 100,
    }),
  ),
  {
    name: "another program uses 40 % of the account",
    options: () => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 4 * MINUTE, type: "provider", factor: 0.6, forMs: 20 * MINUTE }],
      duration: 24 * MINUTE,
    }),
    figures: (report) => [
      atMost("refused part", report.refused / report.sent, 0.03),
      atLeast("use", useBetween(report, 8 * MINUTE, 24 * MINUTE), 0.5),
    ],
  },
];
