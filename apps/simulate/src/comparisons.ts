import { type Scheme, type SwarmReport, simulateEngine, typicalTokens } from "@hivepace/distributed/testing";

const MINUTE = 60_000;

const schemes: readonly (readonly [Scheme, string])[] = [
  ["naive", "every agent has the whole limit"],
  ["equal-split", "equal split"],
  ["gossip", "gossiped use"],
  ["drop-ratio", "drop ratio"],
  ["hive", "Hivepace"],
];

export interface Comparison {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly report: SwarmReport }[];
}

/** Compares the schemes under the same demand, provider and network. */
export function* comparisons(): Generator<Comparison> {
  for (const [agents, load] of [
    [10, 3],
    [100, 3],
    [100, 1.3],
  ] as const) {
    const limits = { requests: 1_000 };
    const demand = { load, patienceMs: 30_000 };
    yield {
      title: `${agents} agents, 1,000 requests a minute, demand ${load} × the limit`,
      rows: schemes.map(([scheme, name]) => ({
        name,
        report: simulateEngine({ seed: 1, scheme, agents, limits, demand, duration: 10 * MINUTE }),
      })),
    };
  }
  const limits = { tokens: 100_000 };
  const demand = { load: 3, tokens: typicalTokens, patienceMs: 120_000 };
  yield {
    title: "10 agents, 100,000 tokens a minute, calls of 50 to 30,000 tokens, demand 3 × the limit",
    rows: schemes.map(([scheme, name]) => ({
      name,
      report: simulateEngine({ seed: 1, scheme, agents: 10, limits, demand, duration: 30 * MINUTE }),
    })),
  };
}
