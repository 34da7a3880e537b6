/**
 * One agent of a swarm of processes: calls the provider as fast as its limiter allows, and reports to its parent
 * process.
 */
import { setTimeout as pause } from "node:timers/promises";
import { redisSync } from "@hivepace/sync-redis";
import { createDistributedLimiter } from "../../src/index.ts";
import { type BrokerKind, openBus } from "../support/brokers.ts";
import { delayed } from "../support/delayed-bus.ts";

export interface AgentTask {
  readonly broker: BrokerKind;
  readonly url: string;
  readonly agentId: string;
  readonly provider: string;
  readonly capacity: number;
  readonly windowMs: number;
  /** Number of concurrent callers. */
  readonly callers: number;
  readonly recoveryIntervalMs: number;
  readonly recoveryFactor: number;
  readonly secret: string | undefined;
  /** Address of a Redis that is the store. */
  readonly store?: string | undefined;
  /** Time by which each message is delayed on its way to the broker, and on its way back. */
  readonly delayMs?: number | undefined;
}

/** A report of an agent to its parent. Times are milliseconds since 1970: all agents run on one machine. */
export type AgentWord =
  | { readonly type: "state"; readonly mode: string; readonly members: number; readonly total: number }
  | { readonly type: "capacity"; readonly at: number; readonly total: number; readonly reason: string }
  | { readonly type: "granted"; readonly at: number }
  | { readonly type: "refused"; readonly at: number };

const task = JSON.parse(process.argv[2] ?? "") as AgentTask;
const RESOURCE = "provider";
const say = (word: AgentWord) => process.connected && process.send?.(word);
const at = () => performance.timeOrigin + performance.now();

const direct = await openBus(task.broker, task.url);
const bus = task.delayMs ? delayed(direct, task.delayMs) : direct;
const sync = task.store ? await redisSync({ url: task.store }) : undefined;
const limiter = await createDistributedLimiter({
  bus,
  agentId: task.agentId,
  recoveryIntervalMs: task.recoveryIntervalMs,
  recoveryFactor: task.recoveryFactor,
  secret: task.secret,
  ...(sync ? { sync } : {}),
  onCapacityChange: ({ newCapacity: total, reason }) => say({ type: "capacity", at: at(), total, reason }),
});
limiter.setCapacity(RESOURCE, task.capacity, task.windowMs);

let isStopping = false;
const body = JSON.stringify({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "x" }] });
const headers = { "content-type": "application/json", "x-agent": task.agentId };

async function call(): Promise<void> {
  await limiter.run(RESOURCE, async () => {
    say({ type: "granted", at: at() });
    const sentAt = performance.now();
    const response = await fetch(`${task.provider}/v1/chat/completions`, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.status !== 429) return;
    say({ type: "refused", at: at() });
    limiter.announceReduced(RESOURCE, "429 from the provider", { sentAgoMs: performance.now() - sentAt });
  });
}

async function caller(): Promise<void> {
  while (!isStopping) {
    try {
      await call();
    } catch {
      // At the end the limiter is closed, or the provider is gone.
      await pause(20);
    }
  }
}

const callers = Array.from({ length: task.callers }, caller);
const report = setInterval(() => {
  const { mode, members } = limiter.status();
  say({ type: "state", mode, members, total: limiter.getCapacity(RESOURCE)?.total ?? 0 });
}, 100);

process.on("message", async (word) => {
  if (word !== "stop") return;
  isStopping = true;
  clearInterval(report);
  await limiter.close();
  await bus.close();
  await sync?.close();
  await Promise.all(callers);
  process.disconnect();
});

// The parent is gone, or has received all reports.
process.on("disconnect", () => process.exit());
