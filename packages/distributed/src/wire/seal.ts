import { createHmac, timingSafeEqual } from "node:crypto";
import { BadMessage } from "./fields.ts";

/**
 * A signature is the last field of a message, so that it stays JSON and readable for agents that know nothing of it:
 *
 *   {…,"sig":"<64 hexadecimal digits>"}
 *
 * It is the HMAC-SHA-256, with the secret, of the namespace and the subject as a JSON array, a line feed, and the exact
 * bytes of the message without that field.
 */
const BEFORE = ',"sig":"';
const AFTER = '"}';
const DIGITS = 64;
const LENGTH = BEFORE.length + DIGITS + AFTER.length;

const utf8 = new TextEncoder();

/** Signs what is sent and opens what is heard. Without a secret all is let through as it is. */
export class Seal {
  readonly #secrets: readonly string[];
  readonly #namespace: string;

  /** The first secret signs, each of them opens. */
  constructor(secrets: readonly string[], namespace: string) {
    this.#secrets = secrets;
    this.#namespace = namespace;
  }

  /** By how many bytes a signature makes a message longer. */
  get bytes(): number {
    return this.#secrets.length === 0 ? 0 : LENGTH;
  }

  close(subject: string, message: Uint8Array): Uint8Array {
    const [secret] = this.#secrets;
    if (secret === undefined) return message;
    const signature = this.#sign(secret, subject, message);
    const sealed = new Uint8Array(message.length - 1 + LENGTH);
    sealed.set(message);
    // In the place of the closing brace.
    sealed.set(utf8.encode(BEFORE + signature + AFTER), message.length - 1);
    return sealed;
  }

  /** The message as it was before it was signed. Throws `BadMessage`. */
  open(subject: string, sealed: Uint8Array): Uint8Array {
    if (this.#secrets.length === 0) return sealed;
    const start = sealed.length - LENGTH;
    const tail = start > 0 ? String.fromCharCode(...sealed.subarray(start)) : "";
    if (!tail.startsWith(BEFORE) || !tail.endsWith(AFTER)) throw new BadMessage("unsigned");
    const message = sealed.slice(0, start + 1);
    message[start] = "}".charCodeAt(0);
    const signature = utf8.encode(tail.slice(BEFORE.length, -AFTER.length));
    for (const secret of this.#secrets) {
      const expected = utf8.encode(this.#sign(secret, subject, message));
      if (expected.length === signature.length && timingSafeEqual(expected, signature)) return message;
    }
    throw new BadMessage("forged");
  }

  #sign(secret: string, subject: string, message: Uint8Array): string {
    const context = `${JSON.stringify([this.#namespace, subject])}\n`;
    return createHmac("sha256", secret).update(context).update(message).digest("hex");
  }
}
