import type { SyncSum } from "@hivepace/core";
import type { Answer, Call } from "./exchange.ts";

const nothing = { requests: 0, tokens: 0, agents: 0, own: undefined };

/** One line of the script: `requests tokens agents`, and `requests tokens` of one's own if there are any. */
function readLine(line: string | undefined): SyncSum {
  if (line === undefined || line.startsWith("!")) return { ...nothing, error: line?.slice(1) ?? "no answer" };
  const [requests = 0, tokens = 0, agents = 0, ownRequests, ownTokens = 0] = line.split(" ").map(Number);
  const own = ownRequests === undefined ? undefined : { requests: ownRequests, tokens: ownTokens };
  return { requests, tokens, agents, own, error: undefined };
}

/** The store's time, and the sums where they belong. Throws the first error when no call was answered. */
export function readAnswers(calls: readonly Call[], answers: readonly Answer[], count: number) {
  const sums = new Array<SyncSum>(count);
  let epochMs: number | undefined;
  let failure: Error | undefined;
  for (const [i, answer] of answers.entries()) {
    const { places } = calls[i] as Call;
    if (answer instanceof Error) {
      failure ??= answer;
      for (const place of places) sums[place] = { ...nothing, error: answer.message };
      continue;
    }
    const [seconds, micros, ...lines] = answer;
    epochMs ??= Number(seconds) * 1_000 + Number(micros) / 1_000;
    for (const [at, place] of places.entries()) sums[place] = readLine(lines[at]);
  }
  if (epochMs === undefined) throw failure ?? new Error("no answer");
  return { epochMs, sums };
}
