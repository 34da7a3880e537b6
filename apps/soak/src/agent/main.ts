/** One process of the swarm: calls the provider as fast as it may, and follows the orders of its parent. */
import type { AgentTask, Holdings, Order, Word } from "../words.ts";
import { churn } from "./churn.ts";
import { Colony } from "./colony.ts";
import { holdings } from "./holdings.ts";
import { leak } from "./leaks.ts";

const task = JSON.parse(process.argv[2] ?? "") as AgentTask;
const say = (word: Word) => process.connected && process.send?.(word);
const colony = await Colony.open(task, say);
let before: Holdings | undefined;
let isLeaving = false;

const report = setInterval(() => {
  const { mode, members, endpoints } = colony.hive.status();
  say({ type: "state", mode, members, level: endpoints[0]?.level ?? 0 });
}, 100);

async function measure(round: number): Promise<Holdings> {
  await leak(colony, round);
  await colony.callers.rest();
  const found = await holdings(colony, before);
  before ??= found;
  colony.callers.goOn();
  return found;
}

async function follow({ act, round }: Order): Promise<Holdings | undefined> {
  if (act === "measure") return measure(round);
  if (act === "churn") await churn(colony, round);
  else {
    isLeaving = true;
    clearInterval(report);
    await colony.close();
  }
  return undefined;
}

process.on("message", (order: Order) => {
  follow(order)
    .then(
      (found) => say({ type: "done", id: order.id, ...(found && { holdings: found }) }),
      (error) => say({ type: "done", id: order.id, error: String((error as Error)?.stack ?? error) }),
    )
    .finally(() => order.act === "leave" && process.disconnect());
});

// After a `leave` order the process must end by itself: a handle left open would keep it running, which the parent
// reports.
process.on("disconnect", () => isLeaving || process.exit());
