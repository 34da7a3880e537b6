import { type MemoryBroker, memoryBroker, memoryBus } from "@hivepace/bus";
import type { Lease } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createHive, type Hive, type HiveOptions, type HiveRequest } from "../../src/index.ts";

/** Hives on one broker and one clock, in virtual time. */
export class TestHives {
  readonly clock = new ManualClock({ now: 5_000 });
  readonly broker: MemoryBroker = memoryBroker();
  readonly hives: Hive[] = [];

  /** Creates a hive without a bus. */
  async alone(options: HiveOptions): Promise<Hive> {
    const hive = await createHive({ clock: this.clock, agentId: `hive-${this.hives.length}`, ...options });
    this.hives.push(hive);
    return hive;
  }

  /** Creates a hive on the bus. The hive owns its connection and closes it. */
  join(options: HiveOptions): Promise<Hive> {
    return this.alone({ bus: memoryBus(this.broker, { clock: this.clock }), namespace: "test", ...options });
  }

  /** Creates `count` hives on the bus, and waits until they know each other. */
  async swarm(count: number, options: HiveOptions): Promise<Hive[]> {
    const hives = [];
    for (let i = 0; i < count; i++) hives.push(await this.join({ expectedAgents: count, ...options }));
    await this.clock.run(3_000);
    return hives;
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.hives.map((hive) => hive.close()));
    await this.clock.run(10_000);
    await closed;
  }
}

/** The current outcome of a wait, without waiting for it. */
export function watch(promise: Promise<Lease>): { lease: Lease | undefined; error: unknown } {
  const seen: { lease: Lease | undefined; error: unknown } = { lease: undefined, error: undefined };
  promise.then(
    (lease) => {
      seen.lease = lease;
    },
    (error: unknown) => {
      seen.error = error;
    },
  );
  return seen;
}

/** Makes one call after the other, until the hive is closed. */
export async function callOn(
  hive: Hive,
  clock: ManualClock,
  request: HiveRequest,
  sent: { at: number; tokens: number }[],
) {
  try {
    for (;;) {
      const lease = await hive.acquire(request);
      sent.push({ at: clock.now(), tokens: request.tokens ?? 0 });
      lease.done();
    }
  } catch {
    // The hive was closed.
  }
}
