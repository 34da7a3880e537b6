import { bytes, text } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { BadMessage } from "./fields.ts";
import { Seal } from "./seal.ts";

const SECRET = "the secret of the swarm";
const sealOf = (secrets: string[], namespace: string, swarmId = "swarm") =>
  new Seal(secrets, { swarmId, namespace }, { now: () => 1_234.5, receive: () => {} });
const message = bytes('{"a":"ü","b":[1,2]}');
const reason = (run: () => unknown): string | undefined => {
  try {
    run();
  } catch (error) {
    if (error instanceof BadMessage) return error.reason;
  }
  return undefined;
};

test("a signed message opens to the same fields and its time, and is JSON before that too", () => {
  const seal = sealOf([SECRET], "prod");
  const sealed = seal.close("s", message);
  expect(sealed.length).toBeLessThanOrEqual(message.length + seal.bytes);
  const said = "0000000001234500";
  expect(JSON.parse(text(seal.open("s", sealed)))).toEqual({ a: "ü", b: [1, 2], said });
  expect(JSON.parse(text(sealed))).toEqual({ a: "ü", b: [1, 2], said, sig: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test("without a secret every message passes unchanged", () => {
  const seal = sealOf([], "prod");
  expect([seal.close("s", message), seal.open("s", message), seal.bytes]).toEqual([message, message, 0]);
});

test("an unsigned message is refused", () => {
  const seal = sealOf([SECRET], "");
  for (const payload of [message, bytes(""), bytes("}"), bytes('{"sig":"abc"}'), bytes("x".repeat(200))])
    expect(reason(() => seal.open("s", payload))).toBe("unsigned");
});

test("a message of another swarm, subject, namespace or secret is refused", () => {
  const sealed = sealOf([SECRET], "prod").close("s", message);
  expect(reason(() => sealOf([SECRET], "prod").open("t", sealed))).toBe("forged");
  expect(reason(() => sealOf([SECRET], "dev").open("s", sealed))).toBe("forged");
  expect(reason(() => sealOf(["another secret, as long"], "prod").open("s", sealed))).toBe("forged");
  expect(reason(() => sealOf([SECRET], "prod", "other").open("s", sealed))).toBe("forged");
  // Namespace and subject are signed separately: moving a character from one to the other changes the signature.
  expect(reason(() => sealOf([SECRET], "prods").open("", sealed))).toBe("forged");
});

test("a message of which any byte was changed is refused", () => {
  const seal = sealOf([SECRET], "");
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

test("the previous secret opens messages, and never signs", () => {
  const [old, both, next] = [
    sealOf(["the old secret, long"], ""),
    sealOf(["the new secret, long", "the old secret, long"], ""),
    sealOf(["the new secret, long"], ""),
  ];
  expect(JSON.parse(text(both.open("s", old.close("s", message))))).toMatchObject({ a: "ü" });
  expect(JSON.parse(text(next.open("s", both.close("s", message))))).toMatchObject({ a: "ü" });
  expect(reason(() => old.open("s", both.close("s", message)))).toBe("forged");
});

test("the time of a message is part of the signature, and is returned in microseconds", () => {
  const said: number[] = [];
  const clock = { now: () => 1_234.5678, receive: (at: number) => void said.push(at) };
  const seal = new Seal([SECRET], { swarmId: "s", namespace: "" }, clock);
  const sealed = seal.close("s", message);
  seal.open("s", sealed);
  expect(said).toEqual([1_234.567]);
  const later = bytes(text(sealed).replace("0000000001234567", "0000000001234568"));
  expect(reason(() => seal.open("s", later))).toBe("forged");
});
