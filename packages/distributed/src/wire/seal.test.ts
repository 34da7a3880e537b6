import { bytes, text } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { BadMessage } from "./fields.ts";
import { Seal } from "./seal.ts";

const SECRET = "the secret of the swarm";
const message = bytes('{"a":"ü","b":[1,2]}');
const reason = (run: () => unknown): string | undefined => {
  try {
    run();
  } catch (error) {
    if (error instanceof BadMessage) return error.reason;
  }
  return undefined;
};

test("what was signed opens to the same bytes, and is JSON before that too", () => {
  const seal = new Seal([SECRET], "prod");
  const sealed = seal.close("s", message);
  expect(sealed.length).toBeLessThanOrEqual(message.length + seal.bytes);
  expect(text(seal.open("s", sealed))).toBe(text(message));
  expect(JSON.parse(text(sealed))).toEqual({ a: "ü", b: [1, 2], sig: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test("without a secret all is let through as it is", () => {
  const seal = new Seal([], "prod");
  expect([seal.close("s", message), seal.open("s", message), seal.bytes]).toEqual([message, message, 0]);
});

test("an unsigned message is refused", () => {
  const seal = new Seal([SECRET], "");
  for (const payload of [message, bytes(""), bytes("}"), bytes('{"sig":"abc"}'), bytes("x".repeat(200))])
    expect(reason(() => seal.open("s", payload))).toBe("unsigned");
});

test("a message of another subject, namespace or secret is refused", () => {
  const sealed = new Seal([SECRET], "prod").close("s", message);
  expect(reason(() => new Seal([SECRET], "prod").open("t", sealed))).toBe("forged");
  expect(reason(() => new Seal([SECRET], "dev").open("s", sealed))).toBe("forged");
  expect(reason(() => new Seal(["another secret, as long"], "prod").open("s", sealed))).toBe("forged");
  // The two are apart: moving a character from one to the other makes another signature.
  expect(reason(() => new Seal([SECRET], "prods").open("", sealed))).toBe("forged");
});

test("a message of which any byte was changed is refused", () => {
  const seal = new Seal([SECRET], "");
  const sealed = seal.close("s", message);
  for (let i = 0; i < sealed.length; i++) {
    const changed = sealed.slice();
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(
      reason(() => seal.open("s", changed)),
      `byte ${i}`,
    ).toMatch(/^(forged|unsigned)$/);
  }
});

test("the secret before opens, and never signs", () => {
  const [old, both, next] = [
    new Seal(["the old secret, long"], ""),
    new Seal(["the new secret, long", "the old secret, long"], ""),
    new Seal(["the new secret, long"], ""),
  ];
  expect(text(both.open("s", old.close("s", message)))).toBe(text(message));
  expect(text(next.open("s", both.close("s", message)))).toBe(text(message));
  expect(reason(() => old.open("s", both.close("s", message)))).toBe("forged");
});
