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
  /** The limit that the provider enforces in each window. */
  readonly limit: number;
  readonly windowMs: number;
  /** Duration of each part of the run without faults, in milliseconds. */
  readonly calmMs: number;
  /** Duration of the broker's outage, in milliseconds. */
  readonly awayMs: number;
  /** Time for which one agent is suspended, in milliseconds. */
  readonly stoppedMs: number;
  /** Receives progress messages for people. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface SwarmFigures {
  /** The largest number of requests sent in any window, accepted or not, in limits. */
  readonly max: number;
  /**
   * The largest number of grants in any window by the time of the decision, in limits. Independent of delays in
   * sending.
   */
  readonly maxGranted: number;
  /** Accepted requests in the parts without faults, in limits per window. */
  readonly use: number;
  readonly sent: number;
  /** Requests that the provider refused because of its limit, without the one refusal that the test ordered. */
  readonly refused: number;
  /** Time from the refused agent's report until the last agent had cut, in milliseconds. */
  readonly cutMs: number;
  readonly cuts: number;
  /** Time from the broker's return until every agent knew all others, in milliseconds. */
  readonly healMs: number;
  /** Accepted requests during the broker's outage, in limits per window. */
  readonly useWhileAway: number;
}

/** The fraction of the provider's limit that agents use, because the transit time of requests varies. */
const MARGIN = 0.95;

export interface Child {
  readonly id: string;
  readonly process: ChildProcess;
  state: Extract<AgentWord, { type: "state" }> | undefined;
  readonly cuts: Extract<AgentWord, { type: "capacity" }>[];
  readonly refusals: number[];
  readonly grants: { readonly at: number }[];
}

/** Runs a swarm of processes with several faults against a provider that enforces its limit. */
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

    // On a machine that is too slow for its own clock, the provider may have refused a request before. Waits until such
    // a refusal is over.
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

export function startAgent(file: string, task: AgentTask): Child {
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

export async function stop({ process }: Child): Promise<void> {
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

/** Returns the number of requests accepted within `forMs`. */
async function measure(provider: FakeProvider, forMs: number): Promise<number> {
  const before = provider.log.length;
  await pause(forMs);
  return provider.log.slice(before).filter(({ accepted }) => accepted).length;
}

/** The times of refusals, in seconds since the first request, as text for people. */
function whenRefused({ log: sent }: FakeProvider): string {
  const times = sent.filter(({ status }) => status === 429).map(({ at }) => (at - (sent[0]?.at ?? 0)) / 1_000);
  return times.map((seconds) => seconds.toFixed(1)).join(" ");
}

const PATIENCE_MS = 300_000;

export async function until(children: readonly Child[], holds: (child: Child) => boolean, what: string): Promise<void> {
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

export function isMember({ state }: Child, members: number): boolean {
  return state?.mode === "member" && state.members === members;
}

function isCut({ reason }: { readonly reason: string }): boolean {
  return reason.startsWith("429");
}

function cutAt({ cuts }: Child): number {
  return cuts.find(isCut)?.at ?? Infinity;
}

export function largest(sent: readonly { readonly at: number }[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [i, { at }] of sent.entries()) {
    while ((sent[first]?.at ?? at) <= at - windowMs) first++;
    most = Math.max(most, i - first + 1);
  }
  return most;
}
