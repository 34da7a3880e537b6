import type { SharePool, ShareReply, ShareReport } from "@hivepace/core";
import { swarmKey } from "@hivepace/namespace";
import type { Answer, Call } from "./exchange.ts";
import { keySlot } from "./key-slot.ts";
import { noShare, readShare } from "./share-answers.ts";

/** One call for each pool, all in one round trip. `now` is for tests: the time in the place of the server's. */
export function shareCalls(report: ShareReport, prefix: string, now = ""): { calls: Call[]; slots: number[] } {
  const { namespace, pools, ...head } = report;
  const slots: number[] = [];
  const calls = pools.map((pool, place): Call => {
    const key = keyOf(namespace, pool);
    slots.push(keySlot(prefix + key));
    const keys = [key, `${key}:agents`, `${key}:line`, `${key}:due`];
    return { places: [place], keys, args: [JSON.stringify({ ...head, ...pool }), now] };
  });
  return { calls, slots };
}

/** Pools of one name and of different windows are different pools. */
function keyOf(namespace: string, { name, windowMs, limits }: SharePool): string {
  return `${swarmKey(namespace, name)}:${windowMs}:${limits.length}`;
}

/** Throws the first error when no pool was answered. */
export function readShares(answers: readonly Answer[]): ShareReply {
  let epochMs: number | undefined;
  let failure: Error | undefined;
  const pools = answers.map((answer) => {
    if (answer instanceof Error) {
      failure ??= answer;
      return noShare(answer.message);
    }
    epochMs ??= Number(answer[0]) * 1_000 + Number(answer[1]) / 1_000;
    return readShare(answer);
  });
  if (epochMs === undefined) throw failure ?? new Error("no answer");
  return { epochMs, pools };
}
