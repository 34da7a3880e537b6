import type { KeyLimits, Lease } from "@hivepace/core";
import type { Amounts } from "../engine/index.ts";
import { createHive } from "../hive/create-hive.ts";
import type { Hive, HiveEndpoint, HiveRequest } from "../hive/hive-types.ts";
import type { Endpoint } from "./endpoints.ts";
import { type Grant, type LevelView, NAMESPACE, RealAgent } from "./real-agent.ts";
import { storeSettings } from "./store-settings.ts";
import type { Answer, Call } from "./world.ts";

/** A simulated process that uses `createHive`. */
export class HiveProcess extends RealAgent {
  #hive: Hive | undefined;

  protected async open(): Promise<void> {
    const { options, world } = this.setting;
    const { index, id } = this.start_;
    const { isolation = "balanced", recovery, learnWindows, expectedAgents, weights, keys, observers } = options;
    this.#hive = await createHive({
      agentId: id,
      namespace: NAMESPACE,
      clock: this.clock,
      bus: this.bus,
      endpoints: world.endpoints.map((endpoint) => configOf(endpoint, endpoint.limits)),
      windowMs: world.windowMs,
      isolation,
      recovery,
      learnWindows,
      expectedAgents,
      weight: weights?.[index] ?? 1,
      mode: observers?.includes(index) ? "observe" : "enforce",
      keys: limitsOf(keys?.filter(({ isDynamic }) => !isDynamic)),
      limitsForKey: keys?.some(({ isDynamic }) => isDynamic)
        ? (key) => limitsOf(keys.filter(({ isDynamic }) => isDynamic))[key]
        : undefined,
      ...storeSettings(options.store, this.sync),
    });
    this.#hive.onCapacityChange(this.changed);
  }

  protected async acquire(call: Call, timeoutMs: number | undefined, priority: number): Promise<Grant> {
    return this.#grant(await (this.#hive as Hive).acquire({ ...this.#request(call), timeoutMs, priority }));
  }

  protected tryAcquire(call: Call): Grant | undefined {
    const { lease } = (this.#hive as Hive).tryAcquire(this.#request(call));
    return lease && this.#grant(lease);
  }

  protected close(): Promise<void> {
    return (this.#hive as Hive).close();
  }

  protected view(): LevelView | undefined {
    const [first] = this.setting.world.endpoints;
    return first && this.#hive?.explain(first.id);
  }

  limitsText(): string {
    const [first] = this.setting.world.endpoints;
    return (
      (first &&
        this.#hive
          ?.explain(first.id)
          .limits.map(({ limit }) => limit)
          .join(" ")) ??
      ""
    );
  }

  setLimits(limits: Amounts): void {
    const { endpoints } = this.setting.world;
    this.#hive?.reconfigure({
      endpoints: endpoints.map((endpoint, i) => {
        if (i > 0) return configOf(endpoint, endpoint.limits);
        const { requests, tokens } = endpoint.limits;
        const kinds = [requests === undefined ? [] : ["requests"], tokens === undefined ? [] : ["tokens"]].flat();
        return configOf(endpoint, Object.fromEntries(kinds.map((kind, j) => [kind, limits[j]])));
      }),
    });
  }

  #request(call: Call): HiveRequest {
    const { endpoints } = this.setting.world;
    const ids = endpoints.map(({ id }) => id);
    const only = call.endpoint === undefined ? (ids.length === 1 ? ids[0] : undefined) : ids[call.endpoint];
    const where = only === undefined ? { route: ids } : { endpoint: only };
    return { ...where, key: call.key, ...(this.#hasTokens ? { tokens: call.tokens.expected } : {}) };
  }

  get #hasTokens(): boolean {
    return this.setting.options.demand.tokens !== undefined;
  }

  #grant(lease: Lease): Grant {
    return { endpoint: lease.endpoint, end: (call, answer) => this.#end(lease, call, answer) };
  }

  #end(lease: Lease, call: Call, { outcome, retryAfterMs, isQuota, limits }: Answer): void {
    const sentAgoMs = this.setting.timeline.now - call.sentAt;
    switch (outcome) {
      case "accepted":
        lease.done(this.#hasTokens ? { tokens: call.tokens.actual } : undefined);
        break;
      case "failed":
        lease.failed({ reason: "500", used: this.#hasTokens ? { tokens: 0 } : undefined });
        break;
      case "refused":
        lease.refused({ reason: "429", retryAfterMs, kind: isQuota ? "quota" : "limit" });
        break;
      case "overloaded":
        lease.refused({ reason: "529", retryAfterMs, kind: "overload" });
        break;
    }
    if (limits) this.#hive?.observe({ endpoint: lease.endpoint, sentAgoMs, limits });
  }
}

function configOf({ id }: Endpoint, limits: Endpoint["limits"]): HiveEndpoint {
  return {
    id,
    rpmLimit: limits.requests,
    tpmLimit: limits.tokens,
    maxInFlightPerProcess: limits.maxInFlightPerProcess,
    limits: limits.windows,
  };
}

function limitsOf(
  keys: readonly { readonly key: string; readonly limits?: Endpoint["limits"] | undefined }[] = [],
): Record<string, KeyLimits> {
  return Object.fromEntries(
    keys.map(({ key, limits = {} }) => [key, { rpmLimit: limits.requests, tpmLimit: limits.tokens }]),
  );
}
