import { endpointName, hivesWith } from "../hives.ts";
import { syncLoop } from "../loop.ts";
import { measureRounds, type Runner } from "../rounds.ts";
import type { Row } from "../row.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";
import { realWorld } from "../world.ts";

const COUNTS = [1, 10, 100, 1_000];
/** The longest time of one call in nanoseconds, with any number of endpoints. */
const WANTED_NS = 900;
/** The highest ratio to a hive with one endpoint. */
const WANTED_RATIO = 1.3;

const nameOf = (count: number): string => `${count.toLocaleString("en-US")} endpoint${count === 1 ? "" : "s"}`;

export const endpoints: FreeSuite = {
  kind: "free",
  name: "endpoints",
  title: "Hive.tryAcquire and done({ tokens }) on one endpoint, in hives that have more endpoints besides.",
  async measure(parameters) {
    const swarms = await Promise.all(COUNTS.map(hivesWith));
    const used = { tokens: 80 };
    const request = { endpoint: endpointName(0), tokens: 100 };
    const runners = swarms.map(({ first: hive }, i): Runner => {
      const loop = syncLoop(() => {
        const { lease } = hive.tryAcquire(request);
        lease?.done(used);
        return lease !== undefined;
      });
      return { name: nameOf(COUNTS[i] as number), loop, requests: 1 };
    });
    const results = await measureRounds(runners, parameters, realWorld);
    await Promise.all(swarms.map((swarm) => swarm.close()));
    const against = nameOf(1);
    const times = (name: string): number[] => results.get(name)?.nsPerRequest ?? [];
    return runners.flatMap(({ name: what }): Row[] => {
      const row = { what, value: median(times(what)), unit: "ns" };
      const value = { ...row, wanted: { of: "value", direction: "at most", limit: WANTED_NS } as const };
      if (what === against) return [value];
      const ratio = ratiosOf(times(what), times(against));
      return [value, { ...row, against, ratio, wanted: { of: "ratio", direction: "at most", limit: WANTED_RATIO } }];
    });
  },
};
