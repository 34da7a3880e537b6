import type { EventOrigin, MemberEvent } from "@hivepace/core";
import { member } from "@hivepace/core/internal";
import type { Agent, Peer } from "../engine/agent.ts";

/** Tells who came and who is gone, while anyone listens. */
export class Comings {
  readonly #agent: Agent;
  readonly #origin: EventOrigin;
  /** The state of each, when somebody last listened. */
  #known: Map<string, Pick<Peer, "id" | "state">> | undefined;
  #members = 0;
  #lookedAt = -Infinity;

  constructor(agent: Agent, origin: EventOrigin) {
    this.#agent = agent;
    this.#origin = origin;
  }

  look(now: number): void {
    if (!member.hasSubscribers) {
      this.#known = undefined;
      return;
    }
    const { members, store, config } = this.#agent;
    // A store counts without names; and its agents forget the peers that they had.
    if (store?.isStore) {
      this.#known = undefined;
      return;
    }
    // Comparing with everyone at every message would be slow; one that came for another that left is seen a little later.
    if (this.#known && members === this.#members && now - this.#lookedAt < config.tuning.heartbeatMs) return;
    this.#lookedAt = now;
    this.#members = members;
    const before = this.#known;
    this.#known = new Map();
    for (const { key, id, state } of this.#agent.peers.values()) {
      this.#known.set(key, { id, state });
      const was = before && (before.get(key)?.state ?? "left");
      if (was !== undefined && was !== state) this.#tell(id, state === "live" ? "joined" : state);
    }
    for (const [key, { id, state }] of before ?? [])
      if (state === "live" && !this.#known.has(key)) this.#tell(id, "left");
  }

  #tell(id: string, change: MemberEvent["change"]): void {
    member.publish({ ...this.#origin, member: id, change, members: this.#agent.members });
  }
}
