import { createHash, randomBytes } from "node:crypto";
import type { Message } from "../engine/index.ts";
import { BadMessage } from "../wire/fields.ts";
import { LINK_BYTES, type LinkReceiver, MessageChain, ReceivedChain } from "./message-chain.ts";

/** The number of unknown agents of which proofs are kept before they are dropped. */
const SPARE = 1_000;
const BYTES = 16;

/** What was received of an incarnation first, and continues to hold for as long as the incarnation is known. */
interface Received {
  readonly commitment: string | undefined;
  /** Undefined for an agent of an earlier version, which does not link its messages. */
  readonly chain: LinkReceiver | undefined;
}

/**
 * Proofs that a message comes from the agent that it names, on a bus without signatures. The messages of an agent are a
 * {@link MessageChain}, so that a stranger who reads the bus can invent agents, and cannot speak for an agent that was
 * received before. Its goodbye is proved besides for receivers that missed the messages before it: every message carries
 * the hash of a secret, and the goodbye the secret.
 */
export class Proofs {
  readonly #secret = randomBytes(BYTES).toString("base64url");
  readonly #commitment = commitmentTo(this.#secret);
  readonly #chain = new MessageChain();
  readonly #received = new Map<string, Received>();
  readonly #isKnown: (key: string) => boolean;
  readonly #known: () => number;

  /**
   * `own` is the key of this agent. `isKnown` returns whether an incarnation is remembered, `known` the number of
   * remembered incarnations of other agents.
   */
  constructor(own: string, isKnown: (key: string) => boolean, known: () => number) {
    this.#isKnown = (key) => key === own || isKnown(key);
    this.#known = known;
    this.#received.set(own, { commitment: this.#commitment, chain: this.#chain });
  }

  /** Bytes that `linked` adds to a message. */
  readonly bytes = LINK_BYTES;

  /** Returns the message with the commitment to its goodbye, or the proof of it. */
  signed(message: Message): Message {
    return { ...message, leave: message.bye ? this.#secret : this.#commitment };
  }

  /** Returns an encoded message with the link to the one before it. A message that `isLost` uses up no link. */
  linked(message: Uint8Array, isLost: boolean): Uint8Array {
    return this.#chain.linked(message, isLost);
  }

  /**
   * Returns a received message as far as it is proved: marked if it is a goodbye without proof, and as a message of
   * another agent if it does not continue the messages of the agent that it names. Throws `BadMessage` for a repetition.
   */
  checked(message: Message): Message {
    const { id, incarnation, leave, bye, chain } = message;
    const key = `${id} ${incarnation}`;
    const known = this.#received.get(key);
    const isProvenBye = bye && leave !== undefined && known?.commitment === commitmentTo(leave);
    const place = chain && known?.chain ? known.chain.receive(chain) : "foreign";
    // Of an agent that was forgotten meanwhile nothing has to be protected.
    const before = place === "foreign" && !this.#isKnown(key) ? undefined : known;
    if (!before) this.#remember(key, { commitment: bye ? undefined : leave, chain: chain && new ReceivedChain(chain) });
    else if (before.chain) {
      if (place === "used") throw new BadMessage("stale");
      if (place === "foreign") return isProvenBye ? withoutRefunds(message) : impostor(message);
    } else if (before.commitment === undefined && !bye && leave !== undefined)
      this.#remember(key, { ...before, commitment: leave });
    // The first link of an agent that was received before without one proves nothing.
    const proven = place === "next" || (chain && !before) ? message : withoutRefunds(message);
    return bye && !isProvenBye ? { ...proven, isUnproven: true } : proven;
  }

  #remember(key: string, received: Received): void {
    if (this.#received.size >= 2 * this.#known() + SPARE)
      for (const other of this.#received.keys()) if (!this.#isKnown(other)) this.#received.delete(other);
    this.#received.set(key, received);
  }
}

/**
 * A message that does not continue those of the agent that it names. Either it is forged, or the messages before it were, so
 * both count: as two incarnations, of which this one is the earlier and therefore does not end the other.
 */
function impostor(message: Message): Message {
  const { incarnation, bye } = message;
  return { ...withoutRefunds(message), incarnation: -1 - incarnation, ...(bye ? { isUnproven: true } : {}) };
}

/** Anyone could give back the usage of an agent that does not link its messages, so it stays counted. */
function withoutRefunds(message: Message): Message {
  const quotas = message.quotas.map((report) => ({
    ...report,
    refundedTotal: report.refundedTotal.map(() => 0),
    refunds: undefined,
  }));
  return { ...message, quotas };
}

function commitmentTo(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, 22);
}
