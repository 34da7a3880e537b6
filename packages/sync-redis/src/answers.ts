import type { SyncSum } from "@hivepace/core";
import type { Answer, Call } from "./exchange.ts";
import { withCommand } from "./script.ts";

const nothing = { requests: 0, tokens: 0, agents: 0, own: undefined };

const SPACE = 32;
const ZERO = 48;

/** One line of the script: the total (requests, tokens, agents) and, if there is one, the own part (requests, tokens, …). */
function readLine(line: string | undefined): SyncSum {
  if (line === undefined || line.startsWith("!"))
    return { ...nothing, error: withCommand(line?.slice(1) ?? "no answer") };
  // Digit by digit: splitting the texts and making numbers of them took half of a sync's time here.
  const numbers = [0, 0, 0, 0, 0, 0];
  let [place, number] = [0, 0];
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code === SPACE) {
      numbers[place++] = number;
      number = 0;
    } else number = number * 10 + code - ZERO;
  }
  numbers[place] = number;
  const [requests, tokens, agents, ownRequests, ownTokens] = numbers as [number, number, number, number, number];
  const own = place > 2 ? { requests: ownRequests, tokens: ownTokens } : undefined;
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
      for (const place of places) sums[place] = { ...nothing, error: withCommand(answer.message) };
      continue;
    }
    epochMs ??= Number(answer[0]) * 1_000 + Number(answer[1]) / 1_000;
    for (const [at, place] of places.entries()) sums[place] = readLine(answer[at + 2]);
  }
  if (epochMs === undefined) throw failure ?? new Error("no answer");
  return { epochMs, sums };
}
