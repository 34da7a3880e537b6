import { heartbeatBytes, reading, routing } from "../../../packages/distributed/test/support/flat-costs.ts";
import { grown } from "../grown.ts";
import type { FreeSuite } from "../suite.ts";

const ENDPOINTS = 1_000;
const AGENTS = 50;
const CANDIDATES = 100;
const MOST_STATUS_NS = 15e6;
const MOST_FULL_NS = 60_000;
const MOST_FREE_NS = 5_000;
const MOST_BYTES = 40_000;

/** Costs that grow with the number of endpoints by nature, and must stay small. */
export const manyEndpoints: FreeSuite = {
  kind: "free",
  name: "many-endpoints",
  title: "Status, routes and heartbeats of hives with many endpoints.",
  async measure(parameters) {
    const of = "value";
    const direction = "at most";
    const status = await grown(
      [ENDPOINTS],
      (count) => reading(count, AGENTS),
      1,
      parameters,
      (count) => `hive.status(), ${count} endpoints of ${AGENTS} agents`,
    );
    const routes = async (isFull: boolean, limit: number) => {
      const what = `tryAcquire by route over ${CANDIDATES} endpoints, all ${isFull ? "full" : "free"}`;
      const rows = await grown(
        [CANDIDATES],
        (count) => routing(count, isFull),
        50,
        parameters,
        () => what,
      );
      return rows.map((row) => ({ ...row, wanted: { of, direction, limit } as const }));
    };
    return [
      ...status.map((row) => ({ ...row, wanted: { of, direction, limit: MOST_STATUS_NS } as const })),
      ...(await routes(true, MOST_FULL_NS)),
      ...(await routes(false, MOST_FREE_NS)),
      {
        what: `heartbeat of ${ENDPOINTS} endpoints that were used in the last minute`,
        value: await heartbeatBytes(ENDPOINTS),
        unit: "bytes",
        wanted: { of, direction, limit: MOST_BYTES },
      },
    ];
  },
};
