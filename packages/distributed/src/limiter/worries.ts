import { warn } from "@hivepace/core/internal";
import { type Agent, modeOf } from "../engine/agent.ts";
import { type Amounts, at } from "../engine/amounts.ts";
import { UNLIMITED } from "../wire/subjects.ts";

/** The number of heartbeats after which all live agents should have been heard. */
const SETTLED = 10;
const UNREACHED = "which uses capacity / expectedAgents meanwhile, or minCapacity without that option";

/** Emits operational warnings, each once. */
export class Worries {
  readonly #agent: Agent;
  readonly #said = new Set<string>();
  #nextAt = -Infinity;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  look(now: number): void {
    const { config, startedAt, members, twinAt, store } = this.#agent;
    const { id, expectedAgents, tuning } = config;
    // Checked once a heartbeat, because comparing with all peers at every message would be slow.
    if (now < this.#nextAt) return;
    this.#nextAt = now + tuning.heartbeatMs;
    if (twinAt > -Infinity)
      this.#say("HIVEPACE_DUPLICATE_AGENT", `another process on the bus is agent ${JSON.stringify(id)} too`);
    this.#compareLimits();
    const mode = modeOf(this.#agent, now);
    if (now - startedAt < SETTLED * tuning.heartbeatMs) return;
    if (store?.isStore && store.answeredAt === -Infinity)
      this.#say("HIVEPACE_STORE_UNREACHED", `the store has not answered agent ${JSON.stringify(id)} yet, ${UNREACHED}`);
    if (mode === "cut-off" || mode === "listening") return;
    // In store mode the store counts members, quota by quota.
    if (store?.isStore && ![...this.#agent.pools.values()].some(({ allotment }) => allotment?.isAgreed)) return;
    if (expectedAgents !== undefined) {
      if (members < expectedAgents)
        this.#say("HIVEPACE_FEWER_AGENTS", `${members} of ${expectedAgents} expected agents are on the bus`);
    } else if (members === 1 && config.hasBus)
      this.#say("HIVEPACE_ALONE", `agent ${JSON.stringify(id)} is alone on the bus and uses the whole limit`);
  }

  #compareLimits(): void {
    if (this.#said.has("HIVEPACE_DIFFERENT_LIMITS")) return;
    const { peers, pools, ignored } = this.#agent;
    const isOther = ignored.has("other limits");
    for (const peer of peers.values())
      for (const [name, { said }] of peer.pools) {
        const { limits } = said;
        const ours = pools.get(name)?.config.limits;
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

/** Limits for people. The stand-in for "unlimited" is shown as none. */
function shown(limits: Amounts): string {
  return limits.map((limit) => (limit >= UNLIMITED ? "none" : String(limit))).join(", ");
}
