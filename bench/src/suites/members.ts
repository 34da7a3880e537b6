import { queueing } from "../../../packages/distributed/test/support/flat-costs.ts";
import { grown } from "../grown.ts";
import type { FreeSuite } from "../suite.ts";

const AGENTS = [2, 10, 100, 1_000];
const MOST_NS = 20_000;

/** A call that has to wait, in larger and larger swarms: it joins the queue, claims capacity and is aborted. */
export const members: FreeSuite = {
  kind: "free",
  name: "members",
  title: "A call that joins a queue and is aborted, in a swarm of that many agents.",
  async measure(parameters) {
    const rows = await grown(AGENTS, queueing, 100, parameters, (agents) => `queued acquire, ${agents} agents`);
    const wanted = { of: "value", direction: "at most", limit: MOST_NS } as const;
    return rows.map((row, i) => (i === rows.length - 1 ? { ...row, wanted } : row));
  },
};
