import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { GrantedEvent } from "@hivepace/core";
import type { Message } from "../../../src/engine/index.ts";
import { need, Violation } from "../core/violation.ts";
import type { State } from "./state.ts";

const CHANNEL = "hivepace:granted";

/** The time for which a denied try counts as demand, until the next report and its arrival. */
const LATE_MS = 2_000 + 1_500;

/**
 * Laws of reports: an agent reports no more spent requests than it was granted, so that a denied call leaves no trace, and
 * claims nothing once it has no demand.
 */
export class Reports {
  readonly #state: State;
  readonly #granted = new Map<string, number>();

  constructor(state: State) {
    this.#state = state;
  }

  start(): void {
    subscribe(CHANNEL, this.#count);
  }

  stop(): void {
    unsubscribe(CHANNEL, this.#count);
  }

  /** Checks a message of an agent. */
  check({ id, quotas }: Message): void {
    this.#checkClaims(id, quotas);
    this.#checkSpent(id, quotas);
  }

  #checkSpent(id: string, quotas: Message["quotas"]): void {
    const { isReconfigured, hasLearned } = this.#state;
    // A limit that gets another window counts the usage of its former window from then on, which may count it once more.
    if (isReconfigured || hasLearned) return;
    for (const { name, dimensions = ["requests"], spentTotal } of quotas) {
      // The quotas of an endpoint are named by its id, and by a model or a window behind it.
      const [endpoint = ""] = name.split(/[/@]/);
      const spent = spentTotal[dimensions.indexOf("requests")] ?? 0;
      const granted = this.#granted.get(`${id} ${endpoint}`);
      if (endpoint === "") continue;
      need(
        spent <= (granted ?? 0),
        "conservation",
        () => `${id} reports ${spent} requests of ${name}, ${granted} were granted`,
      );
    }
  }

  #checkClaims(id: string, quotas: Message["quotas"]): void {
    const { owners, clock, setup } = this.#state;
    const owner = owners.find(({ hive }) => hive.agentId === id);
    // With extreme numbers, heartbeats may be minutes apart.
    if (!owner || owner.waiting.size > 0 || setup.isExtreme) return;
    const idleMs = clock.now() - owner.demandAt;
    // An isolated agent claims its budget, at the virtual time 0.
    const claimed = quotas.find(({ claim }) => claim && claim.virtualTime > 0);
    if (!claimed || idleMs <= LATE_MS) return;
    throw new Violation("conservation", `${id} claims ${claimed.name}, ${idleMs} ms after its last demand`);
  }

  readonly #count = (event: unknown): void => {
    const { agentId, resource } = event as GrantedEvent;
    const name = `${agentId} ${resource}`;
    this.#granted.set(name, (this.#granted.get(name) ?? 0) + 1);
  };
}
