import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { OwnServer } from "@hivepace/servers";
import type { SlotTask, SlotWord } from "../programs/slot-agent.ts";
import type { BrokerKind } from "./brokers.ts";
import { bundled } from "./program.ts";

export interface SlotPlan {
  readonly broker: BrokerKind;
  readonly agents: number;
  readonly slots: number;
  readonly callMs: readonly [number, number];
  /** Duration of the parts before and after the outage, and of the outage, in milliseconds. */
  readonly calmMs: number;
  readonly awayMs: number;
}

export interface SlotFigures {
  /** The largest number of concurrent calls, over all processes. */
  readonly most: number;
  /** The fraction of the slots used in the parts without faults. */
  readonly use: number;
  /**
   * Median time from the end of a call until the next one starts in its slot, in the parts without faults, in
   * milliseconds.
   */
  readonly handoverMs: number;
  readonly calls: number;
  /** The smallest and the largest number of calls of one agent. */
  readonly leastOfAgent: number;
  readonly mostOfAgent: number;
}

interface Call {
  readonly beganAt: number;
  readonly endedAt: number;
}

interface Child {
  readonly process: ChildProcess;
  state: Extract<SlotWord, { type: "state" }> | undefined;
  readonly calls: Call[];
}

const PATIENCE_MS = 120_000;
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Runs processes that share slots on a real broker, which is killed once. */
export async function runSlotProcesses(server: OwnServer, plan: SlotPlan): Promise<SlotFigures> {
  const { agents, slots, calmMs, awayMs } = plan;
  const file = await bundled("slot-agent");
  const children = Array.from({ length: agents }, (_, i) => start(file, plan, server.url, i));
  const periods: [from: number, to: number][] = [];
  const calm = async (): Promise<void> => {
    await until(() => children.every(({ state }) => state?.mode === "member" && state.members === agents));
    // By then all agents know each other's claims, and every caller has asked.
    await pause(4_000);
    const from = now();
    await pause(calmMs);
    periods.push([from, now()]);
  };
  try {
    await calm();
    await server.kill();
    await pause(awayMs);
    await server.start();
    await calm();
  } finally {
    await Promise.all(children.map(stop));
  }
  const calls = children.flatMap((child) => child.calls);
  const used = periods.map(([from, to]) => {
    const busyMs = calls.reduce(
      (sum, { beganAt, endedAt }) => sum + Math.max(0, Math.min(to, endedAt) - Math.max(from, beganAt)),
      0,
    );
    return busyMs / (slots * (to - from));
  });
  const counts = children.map((child) => child.calls.length);
  return {
    most: mostAtATime(calls),
    use: used.reduce((sum, part) => sum + part, 0) / used.length,
    handoverMs: handover(calls, periods),
    calls: calls.length,
    leastOfAgent: Math.min(...counts),
    mostOfAgent: Math.max(...counts),
  };
}

function start(file: string, { broker, agents, slots, callMs }: SlotPlan, url: string, i: number): Child {
  const task: SlotTask = { broker, url, agentId: `agent-${i}`, agents, slots, callers: 2, callMs };
  const process = fork(file, [JSON.stringify(task)], { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const child: Child = { process, state: undefined, calls: [] };
  process.on("message", (word: SlotWord) => {
    if (word.type === "state") child.state = word;
    else child.calls.push(word);
  });
  return child;
}

async function stop({ process }: Child): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, "exit");
  process.send("stop", () => {});
  const late = setTimeout(() => process.kill("SIGKILL"), 20_000);
  await ended;
  clearTimeout(late);
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = now() + PATIENCE_MS; !holds(); await pause(20))
    if (now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain for the agents to know each other`);
}

function mostAtATime(calls: readonly Call[]): number {
  // For an end and a start at the same time, the end counts first.
  const changes = calls.flatMap(({ beganAt, endedAt }) => [
    { at: beganAt, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let underWay = 0;
  let most = 0;
  for (const { by } of changes) {
    underWay += by;
    most = Math.max(most, underWay);
  }
  return most;
}

function handover(calls: readonly Call[], periods: readonly (readonly [number, number])[]): number {
  const begins = calls.map(({ beganAt }) => beganAt).sort((a, b) => a - b);
  const ends = calls.map(({ endedAt }) => endedAt).sort((a, b) => a - b);
  const gaps: number[] = [];
  let next = 0;
  for (const end of ends) {
    while (next < begins.length && (begins[next] as number) < end) next++;
    if (next < begins.length && periods.some(([from, to]) => end >= from && end < to))
      gaps.push((begins[next++] as number) - end);
  }
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] ?? 0;
}
