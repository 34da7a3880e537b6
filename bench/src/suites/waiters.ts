import { type WaiterKeys, Waiters } from "../../../packages/distributed/test/support/flat-costs.ts";
import { queueOf } from "../peers.ts";
import type { Row } from "../row.ts";
import { median } from "../statistics.ts";
import type { FreeSuite, RunParameters } from "../suite.ts";

const COUNTS = [100, 1_000, 5_000, 50_000];
const KEYS: Readonly<Record<WaiterKeys, string>> = {
  none: "without keys",
  each: "with a key each",
  limited: "with a key each that is used up",
};
/** The count with a claim, and the longest time to join and to abort. */
const CLAIMED = { count: 5_000, ms: 50 };

/** A crowd of callers that join a queue, and leave it again. */
interface Crowd {
  join(count: number): void;
  abort(): void;
  close(): Promise<void>;
}

async function measure(who: string, count: number, crowd: Crowd, { rounds }: RunParameters): Promise<Row[]> {
  const joins: number[] = [];
  const aborts: number[] = [];
  // The slowest rounds are long, and their medians settle quickly.
  for (let round = -1; round < Math.min(rounds, 5); round++) {
    const start = performance.now();
    crowd.join(count);
    const joined = performance.now();
    crowd.abort();
    if (round < 0) continue;
    joins.push(joined - start);
    aborts.push(performance.now() - joined);
    // Lets the rejected promises settle.
    await new Promise(setImmediate);
  }
  await crowd.close();
  const isClaimed = count === CLAIMED.count && who.startsWith("hive");
  const wanted = isClaimed ? { wanted: { of: "value", direction: "at most", limit: CLAIMED.ms } as const } : {};
  return [
    { what: `${who}: ${count} join`, value: median(joins), unit: "ms", ...wanted },
    { what: `${who}: ${count} abort`, value: median(aborts), unit: "ms", ...wanted },
  ];
}

/** Many callers that wait at once, and the same number in a queue without limits on usage. */
export const waiters: FreeSuite = {
  kind: "free",
  name: "waiters",
  title: "Callers that join the queue of an endpoint that is used up, and abort one after the other.",
  async measure(parameters) {
    const rows: Row[] = [];
    for (const count of parameters.quick ? COUNTS.slice(0, -1) : COUNTS) {
      for (const keys of ["none", "each", "limited"] as const)
        rows.push(...(await measure(`hive, ${KEYS[keys]}`, count, await Waiters.with(count, keys), parameters)));
      rows.push(...(await measure("p-queue, paused", count, queueOf(), parameters)));
    }
    return rows;
  },
};
