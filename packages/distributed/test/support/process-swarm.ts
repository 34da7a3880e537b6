import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import type { OwnServer } from "@hivepace/servers";
import type { AgentTask, AgentWord } from "../programs/agent.ts";
import type { BrokerKind } from "./brokers.ts";
import { bundled } from "./program.ts";

export interface SwarmPlan {
  readonly broker: BrokerKind;
  readonly agents: number;
  /** What the provider enforces, in each window. */
  readonly limit: number;
  readonly windowMs: number;
  /** How long each part takes in which nothing happens. */
  readonly calmMs: number;
  /** For how long the broker is away. */
  readonly awayMs: number;
  /** For how long an agent stands still. */
  readonly stoppedMs: number;
  /** Told what happens, for people. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface SwarmFigures {
  /** The most that was sent in any window, whether it was accepted or not, in limits. */
  readonly max: number;
  /** The same for what the limiters granted, by the time of the decision: no matter how late the machine sends it. */
  readonly maxGranted: number;
  /** Accepted in the calm parts, in limits per window. */
  readonly use: number;
  readonly sent: number;
  /** By the provider, for its limit; the one that was ordered is not among them. */
  readonly refused: number;
  /** From the word of the agent that was refused until the last agent had cut. */
  readonly cutMs: number;
  readonly cuts: number;
  /** From the broker's return until every agent knew all others. */
  readonly healMs: number;
  /** What was accepted while the broker was away, in limits per window. */
  readonly useWhileAway: number;
}

/** What an agent is asked to stay below: a request takes its time on the way, and not always the same. */
const MARGIN = 0.95;

interface Child {
  readonly id: string;
  readonly process: ChildProcess;
  state: Extract<AgentWord, { type: "state" }> | undefined;
  readonly cuts: Extract<AgentWord, { type: "capacity" }>[];
  readonly refusals: number[];
  readonly grants: { readonly at: number }[];
}

/** Runs a swarm of processes against a provider that enforces its limit, and does to it what happens to swarms. */
export async function runProcessSwarm(server: OwnServer, plan: SwarmPlan): Promise<SwarmFigures> {
  const { agents, limit, windowMs, calmMs } = plan;
  const provider = await startProvider({ rpm: limit, windowMs, limitHeaders: false });
  const log = (line: string): void => {
    const first = provider.log[0];
    plan.log?.(`${first ? ((performance.now() - first.at) / 1_000).toFixed(1) : 0} s: ${line}`);
  };
  const file = await bundled("agent");
  const children: Child[] = [];
  try {
    for (let i = 0; i < agents; i++) children.push(startAgent(file, taskOf(plan, server.url, provider.url, i)));
    await until(children, (child) => isMember(child, agents), "all know each other");
    log(`${agents} agents know each other`);
    await pause(windowMs);
    const calm = await measure(provider, calmMs);

    // It may have refused one before, on a machine too busy for its own clock: that must be over.
    const last = Math.max(0, ...children.flatMap(({ refusals }) => refusals));
    await pause(Math.max(0, last + windowMs - Date.now()));
    await until(children, ({ state }) => state?.total === limit * MARGIN, "all have recovered");
    for (const { cuts, refusals } of children) for (const list of [cuts, refusals]) list.length = 0;
    log("the provider refuses one request");
    provider.failNext("rate-limited");
    await until(children, ({ cuts }) => cuts.some(isCut), "all have cut");
    const cutMs = Math.max(...children.map(cutAt)) - Math.min(...children.flatMap(({ refusals }) => refusals));
    const cuts = Math.max(...children.map((child) => child.cuts.filter(isCut).length));
    await until(children, ({ state }) => state?.total === limit * MARGIN, "all have recovered");

    log("the broker is killed");
    await server.kill();
    const away = await measure(provider, plan.awayMs);
    await server.start();
    const backAt = performance.now();
    log("the broker is back");
    await until(children, (child) => isMember(child, agents), "all know each other again");
    const healMs = performance.now() - backAt;
    const healed = await measure(provider, calmMs);

    log("one agent is killed, one stands still");
    const [victim, sleeper] = children as [Child, Child, ...Child[]];
    victim.process.kill("SIGKILL");
    sleeper.process.kill("SIGSTOP");
    await measure(provider, plan.stoppedMs);
    sleeper.process.kill("SIGCONT");
    children.shift();
    await until(children, (child) => isMember(child, agents - 1), "those who are left know each other");
    await measure(provider, calmMs);

    log(`refused at second ${whenRefused(provider)}`);
    const { log: sent } = provider;
    const granted = [...children, victim].flatMap(({ grants }) => grants).sort((a, b) => a.at - b.at);
    const refused = sent.filter(({ status }) => status === 429).length - 1;
    return {
      max: largest(sent, windowMs) / limit,
      maxGranted: largest(granted, windowMs) / limit,
      use: (((calm + healed) / (2 * calmMs)) * windowMs) / limit,
      sent: sent.length,
      refused,
      cutMs,
      cuts,
      healMs,
      useWhileAway: ((away / plan.awayMs) * windowMs) / limit,
    };
  } finally {
    await Promise.all(children.map(stop));
    await provider.close();
  }
}

function taskOf({ broker, limit, windowMs }: SwarmPlan, url: string, provider: string, i: number): AgentTask {
  return {
    broker,
    url,
    agentId: `agent-${i}`,
    provider,
    capacity: limit * MARGIN,
    windowMs,
    callers: 4,
    recoveryIntervalMs: 500,
    recoveryFactor: 1.2,
    secret: "a secret of this swarm alone",
  };
}

function startAgent(file: string, task: AgentTask): Child {
  const process = fork(file, [JSON.stringify(task)], { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const child: Child = { id: task.agentId, process, state: undefined, cuts: [], refusals: [], grants: [] };
  process.on("message", (word: AgentWord) => {
    if (word.type === "state") child.state = word;
    else if (word.type === "capacity") child.cuts.push(word);
    else if (word.type === "granted") child.grants.push(word);
    else child.refusals.push(word.at);
  });
  return child;
}

async function stop({ process }: Child): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => process.once("exit", () => resolve()));
  process.send("stop", () => {});
  const late = new AbortController();
  void pause(5_000, undefined, { signal: late.signal }).then(
    () => process.kill("SIGKILL"),
    () => {},
  );
  await ended;
  late.abort();
}

/** How many requests are accepted in so long. */
async function measure(provider: FakeProvider, forMs: number): Promise<number> {
  const before = provider.log.length;
  await pause(forMs);
  return provider.log.slice(before).filter(({ accepted }) => accepted).length;
}

/** For people: when the provider refused, in seconds from the first request on. */
function whenRefused({ log: sent }: FakeProvider): string {
  const times = sent.filter(({ status }) => status === 429).map(({ at }) => (at - (sent[0]?.at ?? 0)) / 1_000);
  return times.map((seconds) => seconds.toFixed(1)).join(" ");
}

const PATIENCE_MS = 300_000;

async function until(children: readonly Child[], holds: (child: Child) => boolean, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!children.every(holds)) {
    if (performance.now() > deadline) {
      const late = children.filter((child) => !holds(child)).map(({ id, state }) => `${id} ${JSON.stringify(state)}`);
      throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}\n${late.join("\n")}`);
    }
    const dead = children.find(({ process }) => process.exitCode !== null);
    if (dead) throw new Error(`${dead.id} ended with ${dead.process.exitCode} before: ${what}`);
    await pause(10);
  }
}

function isMember({ state }: Child, members: number): boolean {
  return state?.mode === "member" && state.members === members;
}

function isCut({ reason }: { readonly reason: string }): boolean {
  return reason.startsWith("429");
}

function cutAt({ cuts }: Child): number {
  return cuts.find(isCut)?.at ?? Infinity;
}

function largest(sent: readonly { readonly at: number }[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [i, { at }] of sent.entries()) {
    while ((sent[first]?.at ?? at) <= at - windowMs) first++;
    most = Math.max(most, i - first + 1);
  }
  return most;
}
