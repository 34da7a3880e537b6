import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./workspace.ts";

/**
 * Figures that user documentation quotes, with the line of their source. When a line is measured again, this test
 * fails: correct the pages, then the line here.
 */
const QUOTED: readonly (readonly [source: string, line: string, pages: Readonly<Record<string, string>>])[] = [
  [
    "docs/algorithm.md",
    "| **Hivepace** | **98.6 %** | **0.990** | **0** | **0.999** |",
    { "docs/guarantees.md": "0.990" },
  ],
  [
    "docs/algorithm.md",
    "| **Hivepace** | **97.4 %** | **0.990** | **0** | **0.997** |",
    { "docs/guarantees.md": "demand 3 × | 0.990" },
  ],
  ["docs/algorithm.md", "| equal split | 57.1 % |", { "docs/429-with-parallel-agents.md": "57 %" }],
  [
    "docs/algorithm.md",
    "| 50 % loss | max 1.008,",
    { "docs/guarantees.md": "| half of all messages lost | 1.008 |", "docs/choosing-a-bus.md": "max 1.008" },
  ],
  [
    "docs/algorithm.md",
    "| calls use up to half more than estimated | max 1.102, refused part 0.007 |",
    {
      "docs/guarantees.md": "1.02 to 1.10 in twelve runs, 0.7 % refused",
      "docs/choosing-limits.md": "1.10 of the limit",
    },
  ],
  [
    "docs/algorithm.md",
    "| 10 % of the agents isolated for 600 s | max 1.005,",
    { "docs/guarantees.md": "1.005 (10 %)" },
  ],
  [
    "docs/algorithm.md",
    "| 30 % of the agents isolated for 600 s | max 1.004,",
    { "docs/guarantees.md": "1.004 (30 %)" },
  ],
  [
    "docs/algorithm.md",
    "| the broker splits in halves for ten minutes | peak 1.001, refused part 0.003,",
    { "docs/guarantees.md": "0.3 % refused", "docs/failure-modes.md": "0.3 % refusals" },
  ],
  [
    "docs/algorithm.md",
    "| the bus is away for ten minutes, available | max 0.99, use meanwhile 0.977,",
    { "docs/failure-modes.md": "| all | 98 % |" },
  ],
  [
    "docs/algorithm.md",
    "| the bus is away for ten minutes, balanced | max 0.99, use meanwhile 0.489,",
    { "docs/failure-modes.md": "| half | 49 % |" },
  ],
  [
    "docs/algorithm.md",
    "| half of the agents crash | max 0.99, no 429, use 95 s later 0.962 |",
    { "docs/guarantees.md": "96 % 95 seconds later" },
  ],
  [
    "docs/algorithm.md",
    "| one more agent | max 0.826, no 429, join, ms 1147 |",
    { "docs/guarantees.md": "1.1 s in the simulator" },
  ],
  [
    "docs/algorithm.md",
    "after 1.2 s in the mean of 48 seeds",
    { "docs/guarantees.md": "1.2 s in the mean when all is in use" },
  ],
  [
    "docs/algorithm.md",
    "| a window of one second | max 0.99, no 429, use 0.864 |",
    { "docs/choosing-limits.md": "86 % of one second's" },
  ],
  [
    "docs/algorithm.md",
    "| a short window of five seconds | max 0.99, no 429, use 0.947 |",
    { "docs/choosing-limits.md": "95 % of five seconds'" },
  ],
  [
    "docs/algorithm.md",
    "| another program uses 40 % of the account | refused part 0.004, use 0.543 |",
    { "docs/choosing-limits.md": "0.4 % of the requests" },
  ],
  [
    "docs/algorithm.md",
    "| clocks are off by a hundredth | max 0.99,",
    { "docs/failure-modes.md": "0.990 of the limit" },
  ],
  [
    "docs/algorithm.md",
    "| 50 % of the agents are replaced every minute | max 0.993, refused part 0, use 0.934 |",
    { "docs/autoscaling.md": "used 93.4 % of the limit" },
  ],
  [
    "docs/algorithm.md",
    "| 5 % of the agents are replaced every minute | max 0.99, refused part 0, use 0.972 |",
    { "docs/autoscaling.md": "5 % used 97.2 %" },
  ],
  ["docs/real-brokers.md", "| 94.3 % | 94.3 % | 94.3 % |", { "docs/guarantees.md": "0.943, 0.943, 0.943" }],
  ["docs/real-brokers.md", "| 26 ms | 14 ms | 23 ms |", { "docs/choosing-a-bus.md": "| 26 ms | 14 ms | 23 ms |" }],
  ["docs/real-brokers.md", "| 3.0 s | 3.6 s | 3.3 s |", { "docs/choosing-a-bus.md": "| 3.0 s | 3.6 s | 3.3 s |" }],
  [
    "docs/store-aggregation.md",
    "three of thirty were seen to make it 1.13 of the limit",
    { "docs/guarantees.md": "1.13, once" },
  ],
  [
    "README.md",
    "Hivepace               38       0       0       4       0  2.78 s 39.5 s   89 %",
    {
      "docs/429-with-parallel-agents.md":
        "Hivepace               38       0       0       4       0  2.78 s 39.5 s   89 %",
    },
  ],
  ["bench/results/latest.md", "| nats bus, publish to receive | 130 |", { "docs/choosing-a-bus.md": "130 µs" }],
  ["bench/results/latest.md", "| redis bus, publish to receive | 69.0 |", { "docs/choosing-a-bus.md": "69 µs" }],
  ["bench/results/latest.md", "| kafka bus, publish to receive | 647 |", { "docs/choosing-a-bus.md": "647 µs" }],
  [
    "bench/results/latest.md",
    "| hivepace tryAcquire | 48.8 |",
    { "docs/migrating-from-limiter.md": "49 ns against 52", "README.md": "49 ns | limiter 52 ns" },
  ],
  [
    "bench/results/latest.md",
    "| @hivepace/core | 13,501 | bytes |",
    { "docs/migrating-from-limiter.md": "13.5 KB against 1.4" },
  ],
  ["bench/results/latest.md", "| Hivepace on NATS: accepted | 92.1 |", { "README.md": "92 %, 0 %" }],
  ["bench/results/latest.md", "| Hivepace on Redis: Redis commands a call | 0.30 |", { "README.md": "| 0.30 |" }],
  [
    "bench/results/latest.md",
    "| bottleneck on Redis: accepted | 71.5 |",
    { "README.md": "bottleneck on Redis 72 %, 18 %" },
  ],
  [
    "bench/results/latest.md",
    "| rate-limiter-flexible on Redis: accepted | 59.7 |",
    { "README.md": "rate-limiter-flexible on Redis 60 %, 11 %" },
  ],
  [
    "bench/results/latest.md",
    "| p-ratelimit on Redis: accepted | 49.2 |",
    { "README.md": "p-ratelimit on Redis 49 %, 0 %" },
  ],
];

const read = (file: string) => readFileSync(join(root, file), "utf8");

test.each(QUOTED)("%s contains %s, and the pages that quote it agree", (source, line, pages) => {
  expect(read(source)).toContain(line);
  for (const [page, figure] of Object.entries(pages)) expect(read(page)).toContain(figure);
});
