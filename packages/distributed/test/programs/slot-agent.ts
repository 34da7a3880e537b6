/**
 * One agent of a swarm of processes that shares slots: makes calls without end, and reports the start and end of each
 * to its parent.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createHive } from "../../src/index.ts";
import { type BrokerKind, openBus } from "../support/brokers.ts";

export interface SlotTask {
  readonly broker: BrokerKind;
  readonly url: string;
  readonly agentId: string;
  readonly agents: number;
  readonly slots: number;
  readonly callers: number;
  /** Minimum and maximum duration of a call, in milliseconds. */
  readonly callMs: readonly [number, number];
}

/** A report of an agent to its parent. Times are milliseconds of a clock that all processes on the machine share. */
export type SlotWord =
  | { readonly type: "state"; readonly mode: string; readonly members: number }
  | { readonly type: "call"; readonly beganAt: number; readonly endedAt: number };

const task = JSON.parse(process.argv[2] ?? "") as SlotTask;
const say = (word: SlotWord) => process.connected && process.send?.(word);
const at = () => Number(process.hrtime.bigint()) / 1e6;

const hive = await createHive({
  bus: await openBus(task.broker, task.url),
  agentId: task.agentId,
  namespace: "slots",
  expectedAgents: task.agents,
  endpoints: [{ id: "model", maxInFlight: task.slots }],
  leaseMs: 20_000,
});

let isStopping = false;
async function caller(): Promise<void> {
  while (!isStopping) {
    try {
      const lease = await hive.acquire({ endpoint: "model" });
      const beganAt = at();
      const [least, most] = task.callMs;
      await pause(least + (most - least) * Math.random());
      say({ type: "call", beganAt, endedAt: at() });
      lease.done();
    } catch {
      // The hive was closed.
      return;
    }
  }
}

const callers = Array.from({ length: task.callers }, caller);
const report = setInterval(() => {
  const { mode, members } = hive.status();
  say({ type: "state", mode, members });
}, 100);

process.on("message", async (word) => {
  if (word !== "stop") return;
  isStopping = true;
  clearInterval(report);
  await hive.close({ drainMs: 10_000 });
  await Promise.all(callers);
  process.disconnect();
});

process.on("disconnect", () => process.exit());
