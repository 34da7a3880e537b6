import type { Leak } from "../options.ts";
import type { Colony } from "./colony.ts";

const kept: unknown[] = [];

/** Deliberate leaks, one in every round. Only for `--leak`, which shows that the soak detects them. */
const WAYS: Readonly<Record<Leak, (colony: Colony, round: number) => unknown>> = {
  heap: () => kept.push(Array.from({ length: 40_000 }, (_, i) => ({ i, text: `kept ${i}` }))),
  listener: ({ life }) => life.signal.addEventListener("abort", () => {}),
  // More than the timers of Node's own fetch, of which some are allowed.
  timer: () => Array.from({ length: 20 }, () => setInterval(() => {}, 60_000)),
  subscription: ({ bus, task }, round) => bus.subscribe(`leak.${task.agentId}.${round}`, () => {}),
  key: ({ client, task }, round) => client?.set(`${task.agentId}:${round}`, "for ever"),
};

export async function leak(colony: Colony, round: number): Promise<void> {
  for (const way of colony.task.leaks) await WAYS[way](colony, round);
}
