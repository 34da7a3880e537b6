import { type MemoryBroker, type MessageBus, memoryBroker, memoryBus } from "@hivepace/bus";
import type { CapacityUpdate } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createDistributedLimiter, type DistributedConfig, type DistributedLimiter } from "../../src/index.ts";

export const RESOURCE = "api";

/** One agent in virtual time: its limiter, its bus, and the capacity updates that it received. */
export interface TestAgent {
  readonly limiter: DistributedLimiter;
  readonly bus: MessageBus;
  readonly updates: CapacityUpdate[];
  /** The agent's grants. */
  readonly sent: { readonly at: number; readonly cost: number }[];
}

/** Agents on one broker and one clock. */
export class TestSwarm {
  readonly clock = new ManualClock({ now: 5_000 });
  readonly broker: MemoryBroker = memoryBroker();
  readonly agents: TestAgent[] = [];
  #callers: Promise<void>[] = [];

  /** Creates an agent. `start` also waits until its agents have joined. */
  async join(
    config: Partial<DistributedConfig> = {},
    wrap: (bus: MessageBus) => MessageBus = (bus) => bus,
  ): Promise<TestAgent> {
    const bus = wrap(await memoryBus(this.broker, { clock: this.clock }));
    const updates: CapacityUpdate[] = [];
    const limiter = await createDistributedLimiter({
      bus,
      agentId: `agent-${this.agents.length}`,
      clock: this.clock,
      onCapacityChange: (update) => updates.push(update),
      ...config,
    });
    const agent = { limiter, bus, updates, sent: [] };
    this.agents.push(agent);
    return agent;
  }

  /** Creates `count` agents with the same limit, and waits until they know each other. */
  async start(count: number, capacity = 100, windowMs = 10_000, config: Partial<DistributedConfig> = {}) {
    const agents = [];
    for (let i = 0; i < count; i++) agents.push(await this.join(config));
    for (const { limiter } of agents) limiter.setCapacity(RESOURCE, capacity, windowMs);
    await this.clock.run(3_000);
    return agents;
  }

  /** Makes one call after the other on an agent, until its limiter is closed. */
  call(agent: TestAgent, cost = 1): void {
    const loop = async (): Promise<void> => {
      for (;;) {
        await agent.limiter.acquire(RESOURCE, { cost });
        agent.sent.push({ at: this.clock.now(), cost });
        agent.limiter.finish(RESOURCE);
      }
    };
    this.#callers.push(loop().catch(() => {}));
  }

  /** The largest amount sent in any window. */
  largest(windowMs = 10_000): number {
    const sent = this.agents.flatMap((agent) => agent.sent).sort((a, b) => a.at - b.at);
    let first = 0;
    let sum = 0;
    let most = 0;
    for (const { at, cost } of sent) {
      sum += cost;
      for (let oldest = sent[first]; oldest && oldest.at <= at - windowMs; oldest = sent[first]) {
        sum -= oldest.cost;
        first++;
      }
      most = Math.max(most, sum);
    }
    return most;
  }

  /** The calls sent from this time on. */
  sentSince(at: number): number {
    return this.agents.flatMap(({ sent }) => sent).filter((call) => call.at >= at).length;
  }

  async close(): Promise<void> {
    // Calls that wait for an unreachable broker end at their deadline.
    const closed = Promise.all(this.agents.map(({ limiter }) => limiter.close()));
    await this.clock.run(10_000);
    await closed;
    await Promise.all(this.#callers);
    await Promise.all(this.agents.map(({ bus }) => bus.close()));
  }
}
