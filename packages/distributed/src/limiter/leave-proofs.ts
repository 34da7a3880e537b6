import { createHash, randomBytes } from "node:crypto";
import type { Message } from "../engine/index.ts";

/** The number of commitments of unknown agents that are kept before they are dropped. */
const SPARE = 1_000;
const BYTES = 16;

/**
 * Proofs that a goodbye comes from the agent that leaves, on a bus without signatures. Every message of an agent
 * carries the hash of a secret, and its goodbye the secret itself: a stranger who reads the bus knows the hash and
 * cannot send a goodbye for another agent. The first hash that is received of an agent counts, for as long as the agent
 * is known.
 */
export class LeaveProofs {
  readonly #secret = randomBytes(BYTES).toString("base64url");
  readonly #commitment = commitmentTo(this.#secret);
  readonly #commitments = new Map<string, string>();
  readonly #isKnown: (key: string) => boolean;
  readonly #known: () => number;

  /**
   * `isKnown` returns whether an incarnation is remembered, `known` the number of remembered incarnations of other
   * agents.
   */
  constructor(isKnown: (key: string) => boolean, known: () => number) {
    this.#isKnown = isKnown;
    this.#known = known;
  }

  /** Returns the message with its commitment or proof. */
  signed(message: Message): Message {
    return { ...message, leave: message.bye ? this.#secret : this.#commitment };
  }

  /** Returns a received message, marked if it is a goodbye without proof. */
  checked(message: Message): Message {
    const { id, incarnation, leave, bye } = message;
    const key = `${id} ${incarnation}`;
    const commitment = this.#commitments.get(key);
    if (bye) {
      const isProven = leave !== undefined && commitment === commitmentTo(leave);
      return isProven ? message : { ...message, isUnproven: true };
    }
    if (leave !== undefined && commitment === undefined) this.#remember(key, leave);
    return message;
  }

  #remember(key: string, commitment: string): void {
    if (this.#commitments.size >= 2 * this.#known() + SPARE)
      for (const other of this.#commitments.keys()) if (!this.#isKnown(other)) this.#commitments.delete(other);
    this.#commitments.set(key, commitment);
  }
}

function commitmentTo(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, 22);
}
