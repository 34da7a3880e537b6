import type { MessageBus } from "@hivepace/bus";
import { type ChaosBus, chaosBus } from "@hivepace/bus/testing";
import { seededRandom } from "@hivepace/core/testing";
import { createHive, type Hive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { openBus } from "@hivepace/open-bus";
import type { Family } from "../metrics/family.ts";
import { type Call, Caller } from "./caller.ts";
import type { Meter } from "./meter.ts";
import { sdkFetch } from "./sdk-fetch.ts";
import type { AgentState, AgentTask, Word } from "./words.ts";

const ENDPOINT = "provider";
const STATE_MS = 200;

/** One agent of the swarm: it calls the provider as it has to, paced or not, and says how it is doing. */
export interface Agent {
  setDemand(callsPerSecond: number): void;
  setCutOff(isCutOff: boolean): void;
  /** What it has measured; undefined when it measures nothing. */
  measure(): Promise<readonly Family[] | undefined>;
  stop(): Promise<void>;
}

export async function startAgent(task: AgentTask, say: (word: Word) => void): Promise<Agent> {
  const { agentId, pacing } = task;
  const random = seededRandom(task.seed);
  // Before the bus is opened, which is measured, too.
  const meter = task.isMeasured ? await openMeter(agentId) : undefined;
  const bus = pacing === "hive" ? await openBus(task.bus, { waitForBroker: true }) : undefined;
  // A wire that can be cut, also where the broker is not ours to kill.
  const wire = bus && chaosBus(bus, { seed: task.seed, partition: task.isCutOff });
  const hive = pacing === "without" ? undefined : await openHive(task, wire, say);
  if (hive) meter?.observe(hive);
  const call = hive ? limitedCall(hive, task) : sdkFetch(random);
  await connect(task);
  const caller = new Caller(task, random, call);
  const report = setInterval(() => say({ type: "state", agentId, state: stateOf(hive, caller) }), STATE_MS);
  say({ type: "started", agentId });
  return {
    setDemand: (callsPerSecond) => {
      caller.callsPerSecond = callsPerSecond;
    },
    setCutOff: (isCutOff) => {
      if (wire) wire.chaos.partition = isCutOff;
    },
    measure: async () => meter?.families(),
    stop: async () => {
      clearInterval(report);
      await caller.stop();
      say({ type: "state", agentId, state: stateOf(hive, caller) });
      await hive?.close();
      await wire?.close();
      await bus?.close();
      await meter?.stop();
    },
  };
}

/** Loaded by those alone who measure: an SDK takes its time. */
async function openMeter(agentId: string): Promise<Meter> {
  const { startMeter } = await import("./meter.ts");
  return startMeter(agentId);
}

/** As a program has it, but for the times, which are those of the demo's short minutes. */
async function openHive(task: AgentTask, bus: ChaosBus | undefined, say: (word: Word) => void): Promise<Hive> {
  const { agentId, rpm, tpm, windowMs, heartbeatMs, recoveryIntervalMs, namespace } = task;
  const hive = await createHive({
    agentId,
    namespace,
    windowMs,
    recoveryIntervalMs,
    heartbeatIntervalMs: heartbeatMs,
    endpoints: [{ id: ENDPOINT, rpmLimit: rpm, tpmLimit: tpm }],
    ...(bus && { bus: bus as MessageBus }),
  });
  hive.onCapacityChange(({ reason, agentId: by }) => {
    if (reason === "recovery" || reason === "configured") return;
    say({ type: "reduced", agentId, at: performance.timeOrigin + performance.now(), by });
  });
  return hive;
}

/** What the first request of a program takes longer than all others would be counted as its way to the provider. */
async function connect({ providerUrl }: AgentTask): Promise<void> {
  const response = await fetch(providerUrl);
  await response.arrayBuffer();
}

function limitedCall(hive: Hive, { providerUrl }: AgentTask): Call {
  const endpoints = [{ id: ENDPOINT, provider: "anthropic", baseURL: `${providerUrl}/v1` }];
  return createLimitedFetch(hive, { endpoint: ENDPOINT, endpoints });
}

function stateOf(hive: Hive | undefined, caller: Caller): AgentState {
  const { counts } = caller;
  if (hive === undefined)
    return { ...counts, mode: "alone", members: 1, level: 1, share: 1, used: 0, waiting: counts.pending };
  const { mode, members } = hive.status();
  const { level, limits, waiting } = hive.explain(ENDPOINT);
  const part = (of: "share" | "usedHere") => Math.max(0, ...limits.map((limit) => limit[of] / limit.limit));
  return { ...counts, mode, members, level, share: part("share"), used: part("usedHere"), waiting };
}
