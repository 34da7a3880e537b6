/**
 * Many engine agents in one process that get their limit from a real Redis: `swarm:store [seconds] [agents…]`. Prints
 * the load on Redis. Every agent always has waiting calls, which causes the highest load possible.
 */

import { startOwnServer } from "@hivepace/servers";
import { Redis } from "ioredis";
import { allocationCalls, readAllocationReply } from "../../../sync-redis/src/allocation.ts";
import { exchange } from "../../../sync-redis/src/exchange.ts";
import { allocateScript } from "../../../sync-redis/src/script.ts";
import { StoreCrowd } from "../support/store-crowd.ts";

const [seconds = "60", ...counts] = process.argv.slice(2);
const sizes = counts.length > 0 ? counts.map(Number) : [1_000, 10_000];
const WINDOW_MS = 60_000;

const titles = [
  "agents",
  "limit a minute",
  "calls/s",
  "script µs, mean",
  "slowest, ms",
  "Redis CPU",
  "memory, MB",
  "max",
  "use",
  "failed calls",
];
console.log(`| ${titles.join(" | ")} |\n|${titles.map(() => "---:").join("|")}|`);
for (const agents of sizes)
  for (const limit of [1_000, 100_000]) {
    await using server = await startOwnServer("redis", { args: ["--save", "", "--slowlog-log-slower-than", "1000"] });
    const client = new Redis(server.url);
    const memoryBefore = await info(client, "memory", "used_memory");
    const swarm = new StoreCrowd(agents, limit, WINDOW_MS, async (reports) => {
      const calls = reports.flatMap((report) => allocationCalls(report, "").calls);
      const answers = await exchange(client as never, calls, [], allocateScript);
      return answers.map((answer) => readAllocationReply([answer]));
    });
    swarm.start();
    // In the first window the store learns the usage, and then the limit fills at once.
    await pause(20_000);
    await client.call("CONFIG", "RESETSTAT");
    await client.call("SLOWLOG", "RESET");
    const from = performance.now();
    const cpuBefore = await cpu(client);
    await pause(Number(seconds) * 1_000);
    const elapsedMs = performance.now() - from;
    const stats = String(await client.info("commandstats"));
    const [, calls = "0", , perCall = "0"] =
      /cmdstat_evalsha:calls=(\d+),usec=(\d+),usec_per_call=([\d.]+)/.exec(stats) ?? [];
    const slow = (await client.call("SLOWLOG", "GET", "128")) as [number, number, number, string[]][];
    const slowest = Math.max(
      0,
      ...slow.filter(([, , , command]) => /^eval/i.test(command[0] ?? "")).map(([, , usec]) => usec),
    );
    const cells = [
      agents,
      limit,
      Math.round((1_000 * Number(calls)) / elapsedMs),
      perCall,
      slowest === 0 ? "below 1" : (slowest / 1_000).toFixed(1),
      `${((((await cpu(client)) - cpuBefore) * 100_000) / elapsedMs).toFixed(0)} %`,
      (((await info(client, "memory", "used_memory")) - memoryBefore) / 1e6).toFixed(1),
      swarm.max.toFixed(3),
      `${((100 * swarm.sentSince(from)) / (limit * (elapsedMs / WINDOW_MS))).toFixed(1)} %`,
      swarm.failures,
    ];
    console.log(`| ${cells.join(" | ")} |`);
    swarm.stop();
    client.disconnect();
  }

async function info(client: Redis, section: string, field: string): Promise<number> {
  return Number(new RegExp(`${field}:([\\d.]+)`).exec(String(await client.info(section)))?.[1] ?? 0);
}

async function cpu(client: Redis): Promise<number> {
  return (await info(client, "cpu", "used_cpu_user")) + (await info(client, "cpu", "used_cpu_sys"));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
