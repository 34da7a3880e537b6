import type { EventOrigin, MemberEvent } from "@hivepace/core";
import { member } from "@hivepace/core/internal";
import type { Agent } from "../engine/index.ts";

/** Publishes membership events while the channel has subscribers. */
export class MembershipEvents {
  readonly #agent: Agent;
  readonly #origin: EventOrigin;
  /** The state of each peer at the last comparison. */
  #known: Map<string, { readonly id: string; readonly state: "live" | "silent" | "left" }> | undefined;
  #members = 0;
  #lookedAt = -Infinity;

  constructor(agent: Agent, origin: EventOrigin) {
    this.#agent = agent;
    this.#origin = origin;
  }

  compare(now: number): void {
    if (!member.hasSubscribers) {
      this.#known = undefined;
      return;
    }
    const { membership, store, config } = this.#agent;
    const { members } = membership;
    // In store mode peers have no names, and agents forget the peers they had.
    if (store?.isStore) {
      this.#known = undefined;
      return;
    }
    // Compared only when the number of members changes, because comparing at every message would be slow.
    if (this.#known && members === this.#members && now - this.#lookedAt < config.tuning.heartbeatMs) return;
    this.#lookedAt = now;
    this.#members = members;
    const before = this.#known;
    this.#known = new Map();
    for (const { key, id, state } of membership.peers.values()) {
      this.#known.set(key, { id, state });
      const was = before && (before.get(key)?.state ?? "left");
      if (was !== undefined && was !== state) this.#emit(id, state === "live" ? "joined" : state);
    }
    for (const [key, { id, state }] of before ?? [])
      if (state === "live" && !this.#known.has(key)) this.#emit(id, "left");
  }

  #emit(id: string, change: MemberEvent["change"]): void {
    member.publish({ ...this.#origin, member: id, change, members: this.#agent.membership.members });
  }
}
