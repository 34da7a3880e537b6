import { setTimeout as pause } from "node:timers/promises";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createDistributedLimiter, createHive, type DistributedLimiter, type Hive } from "@hivepace/distributed";

/** Agents in each swarm: the fewest that share a limit. The number of agents does not affect the cost of a decision. */
const AGENTS = 2;

/** Limits of an endpoint that no run reaches. */
const unreached = { rpmLimit: 1e7, tpmLimit: 4e9 } as const;
/** A window in which usage expires during the run, as in production. */
const windowMs = 1_000;

/** A swarm whose agents are members and know each other; the first one is measured. */
interface Swarm<T> {
  readonly first: T;
  close(): Promise<void>;
}

/** Starts hives with this number of endpoints on a bus of their own. */
export function hivesWith(endpoints: number): Promise<Swarm<Hive>> {
  const broker = memoryBroker();
  return swarmOf((i) =>
    createHive({
      bus: memoryBus(broker),
      namespace: "bench",
      agentId: `hive-${i}`,
      expectedAgents: AGENTS,
      endpoints: Array.from({ length: endpoints }, (_, j) => ({ id: endpointName(j), ...unreached })),
      windowMs,
    }),
  );
}

export function endpointName(index: number): string {
  return `endpoint-${index}`;
}

/** Starts limiters with one resource on a bus of their own. */
export function limitersWith(resource: string): Promise<Swarm<DistributedLimiter>> {
  const broker = memoryBroker();
  return swarmOf(async (i) => {
    const bus = await memoryBus(broker);
    const limiter = await createDistributedLimiter({ bus, agentId: `agent-${i}`, expectedAgents: AGENTS });
    limiter.setCapacity(resource, 1e12, windowMs);
    return limiter;
  });
}

async function swarmOf<T extends Hive | DistributedLimiter>(start: (index: number) => Promise<T>): Promise<Swarm<T>> {
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, i) => start(i)));
  const isReady = (agent: T): boolean => {
    const { mode, members } = agent.status();
    return mode === "member" && members === AGENTS;
  };
  while (!agents.every(isReady)) await pause(20);
  return {
    first: agents[0] as T,
    async close() {
      await Promise.all(agents.map((agent) => agent.close()));
    },
  };
}
