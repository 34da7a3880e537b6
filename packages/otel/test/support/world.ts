import { type MemoryBroker, memoryBroker, memoryBus } from "@hivepace/bus";
import { ManualClock, memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { createDistributedLimiter, createHive, type Hive, type HiveOptions } from "@hivepace/distributed";

/** Real hives and limiters that share a broker, a store and a clock in virtual time. */
export class TestWorld {
  readonly clock = new ManualClock({ now: 5_000 });
  readonly broker: MemoryBroker = memoryBroker();
  readonly memory = new SyncMemory(this.clock);
  readonly #closing: (() => Promise<unknown>)[] = [];

  store() {
    return memorySyncStore({ memory: this.memory });
  }

  async hive(agentId: string, options: Partial<HiveOptions> = {}): Promise<Hive> {
    const hive = await createHive({
      endpoints: [{ id: "eu", rpmLimit: 10, tpmLimit: 1_000 }],
      bus: memoryBus(this.broker, { clock: this.clock }),
      namespace: "test",
      expectedAgents: 1,
      agentId,
      clock: this.clock,
      ...options,
    });
    this.#closing.push(() => hive.close());
    return hive;
  }

  async limiter(agentId: string) {
    const bus = await memoryBus(this.broker, { clock: this.clock });
    const limiter = await createDistributedLimiter({ bus, agentId, clock: this.clock, expectedAgents: 1 });
    this.#closing.push(async () => {
      await limiter.close();
      await bus.close();
    });
    return limiter;
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.#closing.map((close) => close()));
    await this.clock.run(10_000);
    await closed;
  }
}
