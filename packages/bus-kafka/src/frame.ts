/**
 * A message as the value of a record. The value contains everything, because brokers and tools may drop keys and
 * headers.
 *
 *     0        1        2        3               3 + n
 *     | 0x48 H | 1      | n      | subject       | payload
 *     | mark   | version| bytes  | n bytes UTF-8 | to the end
 *
 * Values with another mark or version come from other programs or later versions, and are ignored.
 */
const MARK = 0x48;
const VERSION = 1;
const HEAD = 3;

export interface Frame {
  readonly subject: string;
  readonly payload: Uint8Array;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function encodeFrame(subject: string, payload: Uint8Array): Buffer {
  const length = Buffer.byteLength(subject);
  const frame = Buffer.allocUnsafe(HEAD + length + payload.length);
  frame[0] = MARK;
  frame[1] = VERSION;
  frame[2] = length;
  frame.write(subject, HEAD);
  frame.set(payload, HEAD + length);
  return frame;
}

export function decodeFrame(value: Uint8Array | null): Frame | undefined {
  if (value === null || value[0] !== MARK || value[1] !== VERSION) return undefined;
  const end = HEAD + (value[2] ?? 0);
  if (end === HEAD || end > value.length) return undefined;
  try {
    // The value is a view into a whole response; the copy lets that response be garbage-collected.
    return { subject: decoder.decode(value.subarray(HEAD, end)), payload: new Uint8Array(value.subarray(end)) };
  } catch {
    return undefined;
  }
}
