/** A swarm of processes on each broker, for as long as one likes: `swarm:soak [seconds] [broker…]`. Prints the figures. */
import { startOwnServer } from "@hivepace/servers";
import type { BrokerKind } from "../support/brokers.ts";
import { runProcessSwarm } from "../support/process-swarm.ts";

const [seconds = "60", ...kinds] = process.argv.slice(2);
const brokers = (kinds.length > 0 ? kinds : ["nats", "redis", "kafka"]) as BrokerKind[];
const calmMs = Math.max(5_000, (Number(seconds) * 1_000) / 4);

console.log("| broker | max | use | while away | 429s | cut, last agent | cuts | healed after |");
console.log("|---|---|---|---|---|---|---|---|");
for (const broker of brokers) {
  await using server = await startOwnServer(broker);
  const log = (line: string) => console.error(`${broker}: ${line}`);
  const plan = { broker, agents: 16, limit: 400, windowMs: 10_000, calmMs, awayMs: 10_000, stoppedMs: 10_000, log };
  const { max, use, useWhileAway, refused, sent, cutMs, cuts, healMs } = await runProcessSwarm(server, plan);
  const cells = [
    broker,
    max.toFixed(3),
    `${(100 * use).toFixed(1)} %`,
    `${(100 * useWhileAway).toFixed(1)} %`,
    `${refused} of ${sent}`,
    `${cutMs.toFixed(0)} ms`,
    cuts,
    `${(healMs / 1_000).toFixed(1)} s`,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
