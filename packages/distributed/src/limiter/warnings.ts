import type { MessageBus } from "@hivepace/bus";
import { warn } from "@hivepace/core/internal";
import { type Agent, type Amounts, agentMode, at } from "../engine/index.ts";
import { UNLIMITED } from "../wire/subjects.ts";

/** The number of heartbeats after which a message of every live agent should have arrived. */
const SETTLED = 10;
/** Outages shorter than this are restarts of a broker. */
const LASTING_MS = 30_000;
/** An agent that has never reached its bus may send very little, and its address is probably wrong. */
const NEVER_REACHED_MS = 5_000;
const UNREACHED = "which uses capacity / expectedAgents meanwhile, or minCapacity without that option";

/** Emits operational warnings, each once. */
export class Warnings {
  readonly #agent: Agent;
  readonly #said = new Set<string>();
  #nextAt = -Infinity;

  readonly #bus: () => Pick<MessageBus, "state" | "awayReason"> | undefined;
  /** Whether another agent was ever on the bus or at the store. */
  #hasMet = false;
  /** When the bus was last ready; undefined before the first check. */
  #readyAt: number | undefined;

  constructor(agent: Agent, bus: () => Pick<MessageBus, "state" | "awayReason"> | undefined) {
    this.#agent = agent;
    this.#bus = bus;
  }

  check(now: number): void {
    const { config, startedAt, membership, duplicateSeenAt, store } = this.#agent;
    const { id, expectedAgents, tuning } = config;
    const { members } = membership;
    // Checked once per heartbeat, because comparing with all peers at every message would be slow.
    if (now < this.#nextAt) return;
    this.#nextAt = now + tuning.heartbeatMs;
    if (this.#agent.hasLeft) return;
    this.#checkBus(now);
    this.#hasMet ||= members > 1;
    if (duplicateSeenAt > -Infinity)
      this.#say("HIVEPACE_DUPLICATE_AGENT", `another process on the bus is agent ${JSON.stringify(id)} too`);
    this.#compareLimits();
    const mode = agentMode(this.#agent, now);
    if (now - startedAt < SETTLED * tuning.heartbeatMs) return;
    if (store?.isStore && store.answeredAt === -Infinity)
      this.#say("HIVEPACE_STORE_UNREACHED", `the store has not answered agent ${JSON.stringify(id)} yet, ${UNREACHED}`);
    if (mode === "isolated" || mode === "joining") return;
    // In store mode the store counts members, quota by quota.
    if (store?.isStore && ![...this.#agent.quotas.values()].some(({ allocation }) => allocation.grant?.isAgreed))
      return;
    if (expectedAgents !== undefined) {
      if (members < expectedAgents)
        this.#say(
          "HIVEPACE_FEWER_AGENTS",
          `${members} of ${expectedAgents} expected agents are on the bus${membership.hasHeard ? "" : "; the parts of the others stay unused"}`,
        );
    } else if (members === 1 && config.hasBus && (!this.#hasMet || this.#hasLost()))
      this.#say("HIVEPACE_ALONE", `agent ${JSON.stringify(id)} is alone on the bus and uses the whole limit`);
  }

  /** True when another agent fell silent. Agents that left normally do not count. */
  #hasLost(): boolean {
    for (const { state } of this.#agent.membership.peers.values()) if (state === "silent") return true;
    return false;
  }

  /** Warns once of each outage of the bus that lasts. */
  #checkBus(now: number): void {
    const bus = this.#bus();
    const isAway = bus?.state === "connecting" || bus?.state === "interrupted";
    if (!bus || !isAway || this.#readyAt === undefined) {
      this.#readyAt = now;
      this.#said.delete("HIVEPACE_BUS_AWAY");
      return;
    }
    const awayMs = now - this.#readyAt;
    if (awayMs < (bus.state === "connecting" ? NEVER_REACHED_MS : LASTING_MS)) return;
    const { id } = this.#agent.config;
    const reason = bus.awayReason === undefined ? "" : ` (${bus.awayReason})`;
    this.#say(
      "HIVEPACE_BUS_AWAY",
      `agent ${JSON.stringify(id)} has not reached its bus for ${Math.round(awayMs / 1_000)} s${reason}, and ${this.#limitMeanwhile()} until it does; "npx hivepace doctor" checks the address and the broker`,
    );
  }

  #limitMeanwhile(): string {
    const { config, membership } = this.#agent;
    if (membership.hasHeard) return "keeps to its part of the limits";
    if (config.expectedAgents !== undefined) return "uses capacity / expectedAgents";
    return "uses only minCapacity per window, because the option expectedAgents is not set,";
  }

  #compareLimits(): void {
    if (this.#said.has("HIVEPACE_DIFFERENT_LIMITS")) return;
    const { membership, quotas, ignored } = this.#agent;
    const isOther = ignored.has("other limits");
    for (const peer of membership.peers.values())
      for (const [name, { report }] of peer.quotas) {
        const { limits } = report;
        const ours = quotas.get(name)?.config.limits;
        if (peer.state !== "live" || !ours || limits.every((limit, i) => limit === at(ours, i) || limit === Infinity))
          continue;
        const what = `agent ${JSON.stringify(peer.id)} has the limit ${shown(limits)} where this one has ${shown(ours)}`;
        this.#say("HIVEPACE_DIFFERENT_LIMITS", `for ${JSON.stringify(name)} ${what}; the smallest counts`);
        return;
      }
    if (isOther)
      this.#say("HIVEPACE_DIFFERENT_LIMITS", "another agent has a window of another length for the same resource");
  }

  #say(code: string, message: string): void {
    if (this.#said.has(code)) return;
    this.#said.add(code);
    warn(code, message);
  }
}

/** Limits for display. The number that represents "unlimited" is shown as none. */
function shown(limits: Amounts): string {
  return limits.map((limit) => (limit >= UNLIMITED ? "none" : String(limit))).join(", ");
}
