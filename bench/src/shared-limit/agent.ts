import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "@hivepace/core/testing";
import { openPacer, type Pacer } from "./contenders.ts";
import type { AgentTask, AgentWord, Phase, PhaseResult } from "./plan.ts";

/** The program of one agent: calls the provider at the ordered rate, each call when its limiter admits it. */
const task = JSON.parse(process.argv[2] ?? "") as AgentTask;
const random = seededRandom(task.plan.seed * 1_000 + task.index);

async function call(pacer: Pacer, result: { -readonly [K in keyof PhaseResult]: PhaseResult[K] }): Promise<void> {
  const askedAt = performance.now();
  const waits = result.waits as number[];
  const isSent = await pacer.paced(async () => {
    waits.push(performance.now() - askedAt);
    const response = await fetch(`${task.providerUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-agent": String(task.index) },
      body: '{"model":"bench"}',
    });
    await response.arrayBuffer();
    const isRefused = response.status === 429;
    if (isRefused) result.refused++;
    else result.accepted++;
    return { isRefused };
  });
  if (!isSent) result.gaveUp++;
}

/** Calls arrive at random intervals. */
async function run(pacer: Pacer, { callsPerSecond, ms }: Phase): Promise<PhaseResult> {
  const result = { accepted: 0, refused: 0, gaveUp: 0, waits: [] as number[] };
  const calls: Promise<void>[] = [];
  const endAt = performance.now() + ms;
  let nextAt = performance.now();
  for (;;) {
    nextAt += (-Math.log(1 - random()) * 1_000) / callsPerSecond;
    if (nextAt > endAt) break;
    await pause(Math.max(0, nextAt - performance.now()));
    calls.push(call(pacer, result));
  }
  await Promise.all(calls);
  return result;
}

const say = (word: AgentWord): void => void process.send?.(word);

const pacer = await openPacer(task);
process.on("message", (message: Phase | "close") => {
  if (message === "close") pacer.close().then(() => process.exit(0));
  else run(pacer, message).then((result) => say({ type: "done", ...result }));
});
say({ type: "ready" });
