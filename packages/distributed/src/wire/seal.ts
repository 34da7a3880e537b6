import { createHmac, timingSafeEqual } from "node:crypto";
import { BadMessage } from "./fields.ts";

/**
 * A signature is the last field of a message, after the time at which the message was sent, so that it stays JSON and
 * readable for agents without a secret:
 *
 * {…,"said":"<16 digits: microseconds>","sig":"<64 hexadecimal digits>"}
 *
 * The signature is the HMAC-SHA-256, with the secret, of the swarm id, the namespace and the subject as a JSON array, a
 * line feed, and the exact bytes of the message without the field `sig`.
 */
const BEFORE_TIME = ',"said":"';
const TIME_DIGITS = 16;
const BEFORE = '","sig":"';
const AFTER = '"}';
const DIGITS = 64;
const LENGTH = BEFORE_TIME.length + TIME_DIGITS + BEFORE.length + DIGITS + AFTER.length;
const TAIL = /^,"said":"(\d{16})","sig":"([0-9a-f]{64})"\}$/;

const utf8 = new TextEncoder();

/** The context that a signature covers, besides the bytes of the message. */
export interface Bound {
  /** Messages of another swarm are ignored even with the same secret and namespace. */
  readonly swarmId: string;
  readonly namespace: string;
}

/** The time of the swarm, in milliseconds. */
export interface SealClock {
  now(): number;
  /** Throws `BadMessage` for a message that is too old. */
  receive(saidAt: number): void;
}

/** Signs what is sent and verifies what is received. Without a secret every message passes as it is. */
export class Seal {
  readonly #secrets: readonly string[];
  readonly #bound: Bound;
  readonly #clock: SealClock;

  /** The first secret signs, each of them verifies. */
  constructor(secrets: readonly string[], bound: Bound, clock: SealClock) {
    this.#secrets = secrets;
    this.#bound = bound;
    this.#clock = clock;
  }

  /** Number of bytes that a signature adds to a message. */
  get bytes(): number {
    return this.#secrets.length === 0 ? 0 : LENGTH;
  }

  close(subject: string, message: Uint8Array): Uint8Array {
    const [secret] = this.#secrets;
    if (secret === undefined) return message;
    const said = String(Math.max(0, Math.floor(this.#clock.now() * 1_000))).padStart(TIME_DIGITS, "0");
    // The time takes the place of the closing brace.
    const timed = joined(message.subarray(0, -1), `${BEFORE_TIME}${said}"}`);
    return joined(timed.subarray(0, -AFTER.length), `${BEFORE}${this.#sign(secret, subject, timed)}${AFTER}`);
  }

  /** The message with its time and without its signature. Throws `BadMessage`. */
  open(subject: string, sealed: Uint8Array): Uint8Array {
    if (this.#secrets.length === 0) return sealed;
    const tail = String.fromCharCode(...sealed.subarray(Math.max(0, sealed.length - LENGTH)));
    const [, said, signature] = TAIL.exec(tail) ?? [];
    if (said === undefined || signature === undefined) throw new BadMessage("unsigned");
    const message = joined(sealed.subarray(0, sealed.length - LENGTH), `${BEFORE_TIME}${said}"}`);
    if (!this.#isSigned(subject, message, signature)) throw new BadMessage("forged");
    this.#clock.receive(Number(said) / 1_000);
    return message;
  }

  #isSigned(subject: string, message: Uint8Array, signature: string): boolean {
    const given = utf8.encode(signature);
    return this.#secrets.some((secret) => timingSafeEqual(utf8.encode(this.#sign(secret, subject, message)), given));
  }

  #sign(secret: string, subject: string, message: Uint8Array): string {
    const { swarmId, namespace } = this.#bound;
    const context = `${JSON.stringify([swarmId, namespace, subject])}\n`;
    return createHmac("sha256", secret).update(context).update(message).digest("hex");
  }
}

function joined(start: Uint8Array, end: string): Uint8Array {
  const bytes = new Uint8Array(start.length + end.length);
  bytes.set(start);
  bytes.set(utf8.encode(end), start.length);
  return bytes;
}
