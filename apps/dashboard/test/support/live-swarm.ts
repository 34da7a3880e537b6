import { type MemoryBroker, memoryBroker, memoryBus } from "@hivepace/bus";
import { createHive, type Hive, observeSwarm, type SwarmObserver } from "@hivepace/distributed";

export interface LiveSwarm extends AsyncDisposable {
  readonly broker: MemoryBroker;
  readonly observer: SwarmObserver;
  readonly hives: Map<string, Hive>;
  /** Adds an agent that requests capacity every `everyMs`. */
  add(agentId: string, everyMs: number): Promise<Hive>;
  /** Crashes an agent: its hive is not closed. */
  kill(agentId: string): void;
  close(): Promise<void>;
}

interface Limits {
  readonly rpm: number;
  readonly tpm: number;
  readonly windowMs: number;
}

export const ENDPOINT = "openai";
const NAMESPACE = "demo";
const TOKENS = 100;
const MAX_WAITING = 12;

/** Real hives on one memory broker, each of which requests capacity periodically, and an observer. */
export async function liveSwarm({ rpm, tpm, windowMs }: Limits): Promise<LiveSwarm> {
  const broker = memoryBroker();
  const buses = new Map<string, Awaited<ReturnType<typeof memoryBus>>>();
  const hives = new Map<string, Hive>();
  const timers = new Set<NodeJS.Timeout>();
  const observer = await observeSwarm({ bus: memoryBus(broker), namespace: NAMESPACE });

  const want = (hive: Hive, everyMs: number): void => {
    let waiting = 0;
    const timer = setInterval(async () => {
      if (waiting >= MAX_WAITING) return;
      waiting++;
      // A closed hive rejects its waiting requests.
      const lease = await hive.acquire({ route: [ENDPOINT], tokens: TOKENS }).catch(() => undefined);
      waiting--;
      lease?.done({ tokens: TOKENS });
    }, everyMs);
    timers.add(timer);
  };
  const close = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer);
    await Promise.all([...hives.values()].map((hive) => hive.close({ drainMs: 0 })));
    await observer.close();
    for (const bus of buses.values()) await bus.close();
  };
  return {
    broker,
    observer,
    hives,
    async add(agentId, everyMs) {
      const bus = await memoryBus(broker);
      const hive = await createHive({
        agentId,
        bus,
        namespace: NAMESPACE,
        windowMs,
        heartbeatIntervalMs: 250,
        recoveryIntervalMs: 3_000,
        endpoints: [{ id: ENDPOINT, rpmLimit: rpm, tpmLimit: tpm }],
      });
      buses.set(agentId, bus);
      hives.set(agentId, hive);
      want(hive, everyMs);
      return hive;
    },
    kill(agentId) {
      void buses.get(agentId)?.close();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
