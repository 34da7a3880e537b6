import type { SyncSum } from "@hivepace/core";
import type { Answer, Call } from "./exchange.ts";
import { withCommand } from "./script.ts";

const nothing = { requests: 0, tokens: 0, agents: 0, own: undefined };

const SPACE = 32;
const ZERO = 48;

/**
 * Parses one line of the script: the total (requests, tokens, agents), followed by the agent's own counts if there are
 * any.
 */
function readLine(line: string | undefined): SyncSum {
  if (line === undefined || line.startsWith("!"))
    return { ...nothing, error: withCommand(line?.slice(1) ?? "no answer") };
  // Parsing digit by digit is deliberate: splitting the text and converting numbers took half of the time of a sync.
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

/**
 * Returns the store's time, and the sums at their places in the report. Throws the first error when no call was
 * answered.
 */
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
