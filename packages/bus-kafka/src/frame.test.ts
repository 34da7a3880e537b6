import { describe, expect, test } from "vitest";
import { decodeFrame, encodeFrame } from "./frame.ts";

describe("a frame", () => {
  test.for([
    ["a", 0],
    ["ä.日本.🐝", 1],
    ["\ufeffa", 2],
    ["x".repeat(255), 1_000],
  ] as const)("of %s and %i bytes survives encoding and decoding", ([subject, length]) => {
    const payload = Uint8Array.from({ length }, (_, i) => i & 255);
    expect(decodeFrame(encodeFrame(subject, payload))).toEqual({ subject, payload });
  });

  test("consists of mark, version, length, subject, payload", () => {
    expect([...encodeFrame("ab", new Uint8Array([7, 8]))]).toEqual([0x48, 1, 2, 0x61, 0x62, 7, 8]);
  });

  test("shares no memory with the response that contained it", () => {
    const response = encodeFrame("a", new Uint8Array([7]));
    const frame = decodeFrame(response);
    response.fill(0);
    expect(frame).toEqual({ subject: "a", payload: new Uint8Array([7]) });
    expect(frame?.payload.buffer.byteLength).toBe(1);
  });

  test.for([
    ["nothing", null],
    ["an empty value", []],
    ["a foreign value", [...Buffer.from("hello")]],
    ["a later version", [0x48, 2, 1, 0x61]],
    ["no subject", [0x48, 1, 0, 7]],
    ["a subject that is cut off", [0x48, 1, 3, 0x61]],
    ["a subject that is not UTF-8", [0x48, 1, 1, 0xff]],
  ] as const)("is not decoded from %s", ([, value]) => {
    expect(decodeFrame(value && Uint8Array.from(value))).toBeUndefined();
  });
});
