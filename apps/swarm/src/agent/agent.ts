import type { MessageBus } from "@hivepace/bus";
import { type ChaosBus, chaosBus } from "@hivepace/bus/testing";
import type { Clock } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { createHive, type Hive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { openBus } from "@hivepace/open-bus";
import { LapseClock, sleeper } from "../lapse-clock.ts";
import type { Family } from "../metrics/family.ts";
import { type CentralBuckets, centralGatekeeper, type Gatekeeper, localGatekeeper } from "./gatekeeper.ts";
import type { Meter } from "./meter.ts";
import { sdkFetch } from "./sdk-fetch.ts";
import type { AgentState, AgentTask, Word } from "./words.ts";
import { type Call, Workers } from "./workers.ts";

const ENDPOINT = "provider";
const STATE_MS = 200;

/** One agent of the swarm: calls the provider at its demand, with or without a limiter, and reports its state. */
export interface Agent {
  setDemand(callsPerSecond: number): void;
  setCutOff(isCutOff: boolean): void;
  /** Returns the agent's metrics; undefined when the agent is not measured. */
  measure(): Promise<readonly Family[] | undefined>;
  stop(): Promise<void>;
  /** Ends without closing the hive, as a crash does: the last state is lost. */
  crash(): Promise<void>;
}

/** `centrals`: the central buckets that the agents of this process share. */
export async function startAgent(task: AgentTask, say: (word: Word) => void, centrals: CentralBuckets): Promise<Agent> {
  const { agentId, pacing } = task;
  const random = seededRandom(task.seed);
  const clock = new LapseClock(task.speed, task.epochMs);
  // Opened before the bus, because the bus is measured as well.
  const meter = task.isMeasured ? await openMeter(agentId) : undefined;
  const bus = pacing === "hive" ? await openBus(task.bus, { waitForBroker: true }) : undefined;
  // The wrapper can cut this agent off even when the demo does not own the broker.
  const wire = bus && chaosBus(bus, { seed: task.seed, partition: task.isCutOff });
  const hive = pacing === "hive" ? await openHive(task, wire, clock, say) : undefined;
  if (hive) meter?.observe(hive);
  const gate = gatekeeperOf(task, centrals, clock);
  gate?.setReachable(!task.isCutOff);
  const call = hive ? limitedCall(hive, task, clock) : sdkCall(gate, random, clock);
  await connect(task);
  const workers = new Workers(task, call, clock);
  const report = (): void =>
    say({ type: "state", agentId, state: stateOf(hive, workers), latencies: workers.takeLatencies() });
  const timer = setInterval(report, STATE_MS);
  say({ type: "started", agentId });
  return {
    setDemand: (callsPerSecond) => {
      workers.callsPerSecond = callsPerSecond;
    },
    setCutOff: (isCutOff) => {
      if (wire) wire.chaos.partition = isCutOff;
      gate?.setReachable(!isCutOff);
    },
    measure: async () => meter?.families(),
    stop: async () => {
      clearInterval(timer);
      await workers.stop();
      report();
      await gate?.close();
      await hive?.close();
      await wire?.close();
      await bus?.close();
      await meter?.stop();
    },
    crash: async () => {
      clearInterval(timer);
      await workers.stop();
      await gate?.close();
    },
  };
}

function gatekeeperOf(task: AgentTask, centrals: CentralBuckets, clock: Clock): Gatekeeper | undefined {
  if (task.pacing === "split" || task.pacing === "alone") return localGatekeeper(task, clock);
  return task.pacing === "bucket" ? centralGatekeeper(centrals.of(task, clock), sleeper(clock)) : undefined;
}

/** Limits each call once, before the SDK, as most programs do: the retries of the SDK are not limited. */
function sdkCall(gate: Gatekeeper | undefined, random: () => number, clock: Clock): Call {
  const send = sdkFetch(random, sleeper(clock));
  return async (url, init, tokens) => {
    await gate?.acquire(tokens, init.signal);
    return send(url, init);
  };
}

/** Imported lazily, because loading the OpenTelemetry SDK takes time that unmeasured agents do not spend. */
async function openMeter(agentId: string): Promise<Meter> {
  const { startMeter } = await import("./meter.ts");
  return startMeter(agentId);
}

/** Opens a hive with all defaults, as an application does. */
async function openHive(
  task: AgentTask,
  bus: ChaosBus | undefined,
  clock: Clock,
  say: (word: Word) => void,
): Promise<Hive> {
  const { agentId, rpm, tpm, windowMs, recoveryIntervalMs, namespace } = task;
  const hive = await createHive({
    agentId,
    namespace,
    windowMs,
    recoveryIntervalMs,
    clock,
    endpoints: [{ id: ENDPOINT, rpmLimit: rpm, tpmLimit: tpm }],
    ...(bus && { bus: bus as MessageBus }),
  });
  let capacity = Infinity;
  hive.onCapacityChange(({ resource, reason, agentId: by, newCapacity }) => {
    // Limits that answers show for the model are a resource of their own.
    if (resource !== ENDPOINT) return;
    const isCut = newCapacity < capacity && reason !== "configured";
    capacity = newCapacity;
    if (!isCut) return;
    say({ type: "reduced", agentId, at: performance.timeOrigin + performance.now(), by });
  });
  return hive;
}

/** Opens the connection in advance, so that connection setup does not count as latency of the first call. */
async function connect({ providerUrl }: AgentTask): Promise<void> {
  const response = await fetch(providerUrl);
  await response.arrayBuffer();
}

function limitedCall(hive: Hive, { providerUrl }: AgentTask, clock: Clock): Call {
  const endpoints = [{ id: ENDPOINT, provider: "openai", baseURL: `${providerUrl}/v1` }];
  return createLimitedFetch(hive, { endpoint: ENDPOINT, endpoints, clock });
}

function stateOf(hive: Hive | undefined, { counts }: Workers): AgentState {
  if (hive === undefined)
    return { ...counts, mode: "alone", members: 1, level: 1, share: 1, used: 0, waiting: counts.pending };
  const { mode, members } = hive.status();
  const { level, limits, waiting } = hive.explain(ENDPOINT);
  const part = (of: "share" | "usedHere") => Math.max(0, ...limits.map((limit) => limit[of] / limit.limit));
  return { ...counts, mode, members, level, share: part("share"), used: part("usedHere"), waiting };
}
