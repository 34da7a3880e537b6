import { parentPort, workerData } from "node:worker_threads";
import { RateManager } from "../src/rate/rate-manager.ts";
import type { SharedHandle } from "../src/rate/rate-types.ts";

/**
 * The task of a thread: count one id while other ids are set and removed, for `rounds` rounds, or until terminated if
 * that is Infinity.
 */
export interface ChurnOrder {
  readonly shared: SharedHandle;
  readonly name: string;
  readonly rounds: number;
}

export interface ChurnReport {
  readonly requests: number;
  readonly tokens: number;
}

const { shared, name, rounds } = workerData as ChurnOrder;
const manager = new RateManager({ shared, limitsForKey: () => ({ rpmLimit: 1_000_000 }) });
let requests = 0;
let tokens = 0;
if (rounds === Infinity) parentPort?.postMessage("begun");
for (let round = 0; round < rounds; round++) {
  const common = `common ${round % 7}`;
  manager.setKey(common, { rpmLimit: 1_000_000 });
  manager.setEndpoint({ id: `${name} ${round % 5}`, rpmLimit: round });
  const [estimate, used] = [(round % 90) + 10, round % 50];
  const decision = manager.check({ endpoint: "one", key: common, tokens: estimate });
  if (!decision.allowed) throw new Error(`refused by ${decision.limitedBy}`);
  if (round % 3 === 0) manager.cancel(decision);
  else {
    requests++;
    tokens += round % 3 === 1 ? used : estimate;
    if (round % 3 === 1) manager.settle(decision, used);
  }
  manager.check({ endpoint: "one", key: `on demand ${name} ${round % 20}`, tokens: 0 });
  requests++;
  if (round % 11 === 0) manager.removeKey(common);
  if (round % 4 === 0) manager.removeEndpoint(`${name} ${(round + 1) % 5}`);
}
parentPort?.postMessage({ requests, tokens } satisfies ChurnReport);
