import { createHash, randomBytes } from "node:crypto";
import type { ChainLink } from "../engine/index.ts";

/** Number of messages of one segment. The links of a segment are computed at once, because each is the hash of the next. */
const SEGMENT = 1_024;
/** The last messages of a segment name the start of the next one, so that losing some of them does no harm. */
const OVERLAP = 512;
const BYTES = 16;
const TEXT_BYTES = 22;

const utf8 = new TextEncoder();

/** Bytes that a link adds to a message at most. */
export const LINK_BYTES = `,"chain":{"part":9007199254740991,"n":1024,"link":"","next":""}`.length + 2 * TEXT_BYTES;

/**
 * Links the messages of an agent to each other on a bus without signatures. Each message reveals a text whose hash is the
 * text of the message before. Only the agent knows the next text, so others can neither continue its messages nor send one
 * in its name: whoever reads a link reads it at the same time as all receivers, for whom it is used up then.
 */
export class MessageChain implements LinkReceiver {
  #part = 1;
  #n = 0;
  #links = newLinks();
  #next: readonly string[] | undefined;
  /** The segment before. */
  #before: readonly string[] = [];
  /** Position of the last own link that came back. */
  #returned = 0;

  /**
   * Returns a message with its link as the last field. The next message gets the same link where this one `isLost`: after
   * an outage peers could not connect the links otherwise.
   */
  linked(message: Uint8Array, isLost = false): Uint8Array {
    if (this.#n === SEGMENT) {
      this.#part++;
      this.#n = 0;
      this.#before = this.#links;
      this.#links = this.#next as readonly string[];
      this.#next = undefined;
    }
    const n = this.#n + 1;
    if (!isLost) this.#n = n;
    if (n > SEGMENT - OVERLAP) this.#next ??= newLinks();
    const next = this.#next && { next: this.#next[0] };
    const chain = { part: this.#part, n, link: this.#links[n], ...next };
    const end = utf8.encode(`,"chain":${JSON.stringify(chain)}}`);
    const bytes = new Uint8Array(message.length - 1 + end.length);
    // The link takes the place of the closing brace.
    bytes.set(message.subarray(0, -1));
    bytes.set(end, message.length - 1);
    return bytes;
  }

  /** Receives an own link, after any number of lost ones. */
  receive({ part, n, link }: ChainLink): "next" | "used" | "foreign" {
    const links = part === this.#part ? this.#links : part === this.#part - 1 ? this.#before : [];
    if (links[n] !== link) return "foreign";
    const position = part * SEGMENT + n;
    if (position <= this.#returned) return "used";
    this.#returned = position;
    return "next";
  }
}

/** The place of a link behind those received before. */
export interface LinkReceiver {
  /**
   * `next`: the link continues the last one. `used`: it was revealed before, so that its message is late, repeated or
   * forged. `foreign`: it belongs to another sender, or too many messages were lost.
   */
  receive(link: ChainLink): "next" | "used" | "foreign";
}

/**
 * Largest number of messages between two links that a receiver compares: more would let a forged link cost much CPU time.
 * After such a gap an agent counts as a second one until the first is forgotten.
 */
const LONGEST_GAP = 512;

/** The messages of one agent, as a receiver knows them. The first link that is received is believed. */
export class ReceivedChain implements LinkReceiver {
  #last: ChainLink;
  /** The last link of the segment before. */
  #before: ChainLink | undefined;

  constructor(first: ChainLink) {
    this.#last = first;
  }

  receive(link: ChainLink): "next" | "used" | "foreign" {
    if (this.#isUsed(link)) return "used";
    const last = this.#last;
    const isSame = link.part === last.part;
    const start = isSame ? last.link : link.part === last.part + 1 ? last.next : undefined;
    const steps = isSame ? link.n - last.n : link.n;
    if (start === undefined || steps <= 0 || steps > LONGEST_GAP || hashed(link.link, steps) !== start)
      return "foreign";
    if (!isSame) this.#before = last;
    this.#last = link;
    return "next";
  }

  /** True for a link before the last one, whether that was received in its turn or overtaken by later ones. */
  #isUsed({ part, n, link }: ChainLink): boolean {
    const known = [this.#last, this.#before].find((one) => one?.part === part);
    const steps = n - (known?.n ?? 0);
    if (!known || Math.abs(steps) > LONGEST_GAP) return false;
    if (steps <= 0) return hashed(known.link, -steps) === link;
    // The last links of the segment before may arrive after the first of the present one.
    return known !== this.#last && hashed(link, steps) === known.link;
  }
}

/** The links of a segment: the first is the start, and each is the hash of the one after it. */
function newLinks(): readonly string[] {
  const links = [randomBytes(BYTES).toString("base64url")];
  for (let i = 0; i < SEGMENT; i++) links.push(hashed(links[i] as string, 1));
  return links.reverse();
}

function hashed(link: string, times: number): string {
  let text = link;
  for (let i = 0; i < times; i++) text = createHash("sha256").update(text).digest("base64url").slice(0, TEXT_BYTES);
  return text;
}
