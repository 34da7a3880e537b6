import { type Amounts, at } from "../engine/index.ts";
import { createDistributedLimiter } from "../limiter/create-distributed-limiter.ts";
import type { DistributedLimiter } from "../limiter/distributed-limiter.ts";
import { ONLY_ENDPOINT } from "./endpoints.ts";
import { type Grant, type LevelView, NAMESPACE, RealAgent } from "./real-agent.ts";
import { storeSettings } from "./store-settings.ts";
import type { Answer, Call } from "./world.ts";

/** A simulated process that uses `createDistributedLimiter`, whose resources have one dimension. */
export class LimiterProcess extends RealAgent {
  #limiter: DistributedLimiter | undefined;

  protected async open(): Promise<void> {
    const { options, world } = this.setting;
    const { index, id } = this.start_;
    const { isolation = "balanced", recovery, learnWindows, expectedAgents, weights } = options;
    this.#limiter = await createDistributedLimiter({
      agentId: id,
      namespace: NAMESPACE,
      clock: this.clock,
      bus: this.bus,
      isolation,
      recovery,
      learnWindows,
      expectedAgents,
      weight: weights?.[index] ?? 1,
      ...storeSettings(options.store, this.sync),
    });
    this.#limiter.onCapacityChange(this.changed);
    this.setLimits(world.limits);
  }

  protected async acquire(call: Call, timeoutMs: number | undefined, priority: number): Promise<Grant> {
    await (this.#limiter as DistributedLimiter).acquire(ONLY_ENDPOINT, {
      cost: at(call.expected, 0),
      timeoutMs,
      priority,
    });
    return this.#grant;
  }

  protected tryAcquire(call: Call): Grant | undefined {
    return this.#limiter?.tryAcquire(ONLY_ENDPOINT, at(call.expected, 0)) ? this.#grant : undefined;
  }

  protected close(): Promise<void> {
    return (this.#limiter as DistributedLimiter).close();
  }

  protected view(): LevelView | undefined {
    return this.#limiter?.status().resources[0];
  }

  limitsText(): string {
    const { total = 0, level = 1 } = this.#limiter?.status().resources[0] ?? {};
    return String(Math.round(total / level));
  }

  setLimits(limits: Amounts): void {
    this.#limiter?.setCapacity(ONLY_ENDPOINT, at(limits, 0), this.setting.world.windowMs);
  }

  readonly #grant: Grant = {
    endpoint: ONLY_ENDPOINT,
    end: (call: Call, { outcome, retryAfterMs }: Answer): void => {
      const limiter = this.#limiter as DistributedLimiter;
      const sentAgoMs = this.setting.timeline.now - call.sentAt;
      const kind = outcome === "overloaded" ? "overload" : "limit";
      if (outcome === "refused" || outcome === "overloaded")
        limiter.announceReduced(ONLY_ENDPOINT, outcome === "refused" ? "429" : "529", {
          sentAgoMs,
          retryAfterMs,
          kind,
        });
      limiter.finish(ONLY_ENDPOINT);
    },
  };
}
