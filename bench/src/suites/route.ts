import { RateManager } from "@hivepace/core";
import { createRouter } from "@hivepace/distributed";
import { limit } from "../limit.ts";
import type { SyncOp, SyncSuite } from "../suite.ts";

/** Usage by other instances, as a global view reports it: different for each endpoint, none of them full. */
const others = new Map(
  Array.from({ length: 100 }, (_, i) => [
    `endpoint-${i}`,
    { requests: (i * 37) % 101, tokens: (i * 53) % 997, remainingMs: 30_000 },
  ]),
);
const view = { others: (endpoint: string) => others.get(endpoint) };

function routing(count: number, session?: string): SyncOp {
  const manager = new RateManager();
  const candidates = Array.from({ length: count }, (_, i) => `endpoint-${i}`);
  for (const id of candidates) manager.setEndpoint({ id, rpmLimit: 1_000, tpmLimit: 100_000 });
  const router = createRouter({ manager, view });
  const request = { candidates, tokens: 1_600, session };
  return () => router.route(request).allowed;
}

const peek = "manager.peek of one endpoint";

export const route: SyncSuite = {
  kind: "sync",
  name: "route",
  title: "The choice of an endpoint, by the instance's own counts and those of all instances.",
  capacity: limit.tokens,
  reference: peek,
  contenders: [
    {
      name: peek,
      setup() {
        const manager = new RateManager();
        manager.setEndpoint({ id: "eu", rpmLimit: 1_000, tpmLimit: 100_000 });
        const request = { endpoint: "eu", tokens: 1_600 };
        return { op: () => manager.peek(request).allowed };
      },
    },
    { name: "route over 10 endpoints", setup: () => ({ op: routing(10) }) },
    { name: "route over 10 endpoints, of a session", setup: () => ({ op: routing(10, "session-1") }) },
    { name: "route over 100 endpoints", setup: () => ({ op: routing(100) }) },
    { name: "route over 100 endpoints, of a session", setup: () => ({ op: routing(100, "session-1") }) },
  ],
  wanted: [],
};
