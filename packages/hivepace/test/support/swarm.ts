import type { MessageBus } from "@hivepace/bus";
import { createHive, type Hive, type HiveOptions } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";

export const EU = { id: "eu", rpmLimit: 600, tpmLimit: 60_000 };

/** Hives on a real broker, which all end with the test. They speak ten times as often as usual. */
export class Swarm {
  readonly hives: Hive[] = [];
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  async join(agentId: string, options: Partial<HiveOptions> = {}): Promise<Hive> {
    const bus: Promise<MessageBus> = openBus(this.#address);
    const usual = { namespace: "prod", endpoints: [EU], expectedAgents: 1, heartbeatIntervalMs: 100 };
    const hive = await createHive({ bus, agentId, ...usual, ...options });
    this.hives.push(hive);
    // What nobody has used, nobody speaks of.
    (await hive.acquire({ endpoint: "eu", tokens: 500 })).done();
    return hive;
  }

  async close(): Promise<void> {
    await Promise.all(this.hives.splice(0).map((hive) => hive.close()));
  }
}
