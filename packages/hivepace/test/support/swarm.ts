import type { MessageBus } from "@hivepace/bus";
import { createHive, type Hive, type HiveOptions } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";

const HOUR_MS = 3_600_000;

export const EU = { id: "eu", rpmLimit: 600, tpmLimit: 60_000 };

/** Hives on a real broker, which are closed with the test. Their heartbeats are ten times as frequent as by default. */
export class Swarm {
  readonly hives: Hive[] = [];
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  async join(agentId: string, options: Partial<HiveOptions> = {}): Promise<Hive> {
    const bus: Promise<MessageBus> = openBus(this.#address);
    // A level stays as set, however long the machine takes for the next command.
    const lasting = { recoveryIntervalMs: HOUR_MS, cooldownMs: HOUR_MS };
    const usual = { namespace: "prod", endpoints: [EU], expectedAgents: 1, heartbeatIntervalMs: 100, ...lasting };
    const hive = await createHive({ bus, agentId, ...usual, ...options });
    this.hives.push(hive);
    // Agents report only resources that were used.
    const [endpoint = EU] = options.endpoints ?? [];
    (await hive.acquire({ endpoint: endpoint.id, tokens: 500 })).done();
    return hive;
  }

  async close(): Promise<void> {
    await Promise.all(this.hives.splice(0).map((hive) => hive.close()));
  }
}
