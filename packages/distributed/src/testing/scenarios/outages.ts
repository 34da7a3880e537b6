import type { Fault } from "../options.ts";
import { useBetween } from "../recorder.ts";
import { all, atLeast, atMost, MINUTE, type Scenario, SECOND, some, thousand, within } from "./scenario.ts";

const busy = { load: 3 } as const;

/**
 * Some or all agents do not receive each other's messages: disconnected agents, bus outages, partitions of the broker,
 * lost or late messages.
 */
export const outages: readonly Scenario[] = [
  ...[0.1, 0.3, 0.99].flatMap((part) =>
    [10, 60, 600].map(
      (seconds): Scenario => ({
        name: `${part * 100} % of the agents isolated for ${seconds} s`,
        options: (agents) => ({
          limits: thousand,
          demand: busy,
          faults: [
            { at: 4 * MINUTE, type: "cut", agents: some(agents, part).slice(0, agents - 1), forMs: seconds * SECOND },
          ],
          duration: (seconds > 60 ? 18 : 8) * MINUTE,
        }),
        figures: (report) => [
          atMost("max", report.max, seconds <= 60 ? 1.02 : 1 + 0.5 * Math.max(part, 1 / report.agents)),
          atLeast("use after", useBetween(report, report.durationMs - 2 * MINUTE, report.durationMs), 0.95),
        ],
      }),
    ),
  ),
  {
    name: "the bus is away for a minute",
    options: () => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 4 * MINUTE, type: "bus-down", forMs: MINUTE }],
      duration: 8 * MINUTE,
    }),
    figures: (report) => [
      ...within(report, 1.05),
      atLeast("use meanwhile", useBetween(report, 4 * MINUTE, 5 * MINUTE), 0.7),
      atLeast("use after", useBetween(report, 6 * MINUTE, 8 * MINUTE), 0.95),
    ],
  },
  ...(
    [
      ["available", 0.75],
      ["balanced", 0.45],
      ["safe", 0],
    ] as const
  ).map(
    ([isolation, use]): Scenario => ({
      name: `the bus is away for ten minutes, ${isolation}`,
      options: () => ({
        limits: thousand,
        demand: busy,
        isolation,
        faults: [{ at: 4 * MINUTE, type: "bus-down", forMs: 10 * MINUTE }],
        duration: 18 * MINUTE,
      }),
      figures: (report) => [
        ...within(report, 1.05),
        atLeast("use meanwhile", useBetween(report, 5 * MINUTE, 14 * MINUTE), use),
        atLeast("use after", useBetween(report, 16 * MINUTE, 18 * MINUTE), 0.95),
      ],
    }),
  ),
  {
    name: "the bus comes and goes",
    options: () => ({
      limits: thousand,
      demand: busy,
      faults: Array.from(
        { length: 20 },
        (_, i): Fault => ({ at: (2 + i / 4) * MINUTE, type: "bus-down", forMs: 7 * SECOND }),
      ),
      duration: 9 * MINUTE,
    }),
    figures: (report) => [...within(report), atLeast("use", report.use, 0.88)],
  },
  ...(
    [
      ["in halves", 2, [0.5]],
      ["30 to 70", 2, [0.3]],
      ["in three", 3, [1 / 3, 2 / 3]],
    ] as const
  ).map(
    ([how, _, edges]): Scenario => ({
      name: `the broker splits ${how} for a minute`,
      options: (agents) => ({
        limits: thousand,
        demand: busy,
        faults: [
          {
            at: 4 * MINUTE,
            type: "split",
            groups: [0, ...edges].map((edge, i) =>
              all(agents).filter((agent) => agent >= edge * agents && agent < (edges[i] ?? 1) * agents),
            ),
            forMs: MINUTE,
          },
        ],
        duration: 8 * MINUTE,
      }),
      figures: (report) => [
        atMost("max", report.max, 1.2),
        atLeast("use after", useBetween(report, 6 * MINUTE, 8 * MINUTE), 0.95),
      ],
    }),
  ),
  {
    // Each side assumes that the other has left and uses the whole limit, until refusals cut both.
    name: "the broker splits in halves for ten minutes",
    options: (agents) => ({
      limits: thousand,
      demand: busy,
      faults: [
        {
          at: 4 * MINUTE,
          type: "split",
          groups: [0, 1].map((half) => all(agents).filter((agent) => agent % 2 === half)),
          forMs: 10 * MINUTE,
        },
      ],
      duration: 18 * MINUTE,
    }),
    figures: (report) => [
      atMost("peak", report.peak, 1.05),
      atMost("refused part", report.refused / report.sent, 0.03),
      atMost("levels in the end", report.levels, 1),
    ],
  },
  ...(["deafen", "mute"] as const).map(
    (type): Scenario => ({
      name:
        type === "deafen"
          ? "a third of the agents sends and does not receive"
          : "a third of the agents receives and does not send",
      options: (agents) => ({
        limits: thousand,
        demand: busy,
        faults: [{ at: 4 * MINUTE, type, agents: some(agents, 1 / 3), forMs: MINUTE }],
        duration: 8 * MINUTE,
      }),
      figures: (report) => [
        atMost("max", report.max, 1.02),
        atLeast("use meanwhile", useBetween(report, 4 * MINUTE, 5 * MINUTE), 0.8),
        atLeast("use after", useBetween(report, 6 * MINUTE, 8 * MINUTE), 0.95),
      ],
    }),
  ),
  ...(
    [
      ["no loss", { loss: 0, duplicates: 0, slow: 0 }, 0.96, 1.02],
      ["20 % loss", { loss: 0.2, duplicates: 0.1 }, 0.96, 1.02],
      ["50 % loss", { loss: 0.5, duplicates: 0.1 }, 0.96, 1.02],
      ["a tenth of the messages up to ten seconds late", { slow: 0.1, slowMs: [500, 10_000] as const }, 0.96, 1.02],
    ] as const
  ).map(
    ([name, network, use, max]): Scenario => ({
      name,
      options: () => ({ limits: thousand, demand: busy, network, duration: 8 * MINUTE }),
      figures: (report) => [atMost("max", report.max, max), atLeast("use", report.use, use)],
    }),
  ),
  {
    name: "messages are half a minute late for two minutes",
    options: () => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 4 * MINUTE, type: "network", network: { delayMs: [30_000, 31_000], slow: 0 }, forMs: 2 * MINUTE }],
      duration: 12 * MINUTE,
    }),
    figures: (report) => [
      atMost("max", report.max, 1.02),
      atLeast("use after", useBetween(report, 9 * MINUTE, 12 * MINUTE), 0.95),
    ],
  },
  {
    name: "all agents start while the bus is away, with expectedAgents",
    options: (agents) => ({
      limits: thousand,
      demand: busy,
      expectedAgents: agents,
      faults: [{ at: 0, type: "bus-down", forMs: 3 * MINUTE }],
      duration: 7 * MINUTE,
      measureFrom: 0,
    }),
    figures: (report, agents) => [
      ...within(report),
      // Among a hundred agents, the smallest want less than an equal share.
      atLeast("use meanwhile", useBetween(report, MINUTE, 3 * MINUTE), agents <= 10 ? 0.9 : 0.8),
      atLeast("use after", useBetween(report, 5 * MINUTE, 7 * MINUTE), 0.95),
    ],
  },
  {
    name: "all agents start while the bus is away, without expectedAgents",
    options: () => ({
      limits: thousand,
      demand: busy,
      faults: [{ at: 0, type: "bus-down", forMs: 3 * MINUTE }],
      duration: 7 * MINUTE,
      measureFrom: 0,
    }),
    figures: (report) => [...within(report), atLeast("use after", useBetween(report, 5 * MINUTE, 7 * MINUTE), 0.95)],
  },
];
