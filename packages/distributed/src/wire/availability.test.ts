import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message, Register } from "../engine/index.ts";
import { decodePark, encodePark } from "./park.ts";
import { decodePresence, encodePresence } from "./presence.ts";

const amount = fc.oneof(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.constantFrom(0, Infinity, 1e300));
const count = fc.oneof(fc.nat(1_000), fc.constantFrom(Number.MAX_SAFE_INTEGER, 1e300));
const register: fc.Arbitrary<Register> = fc.record({
  epoch: count.map((value) => value + 1),
  state: fc.constantFrom("available", "overloaded", "broken", "parked"),
  cause: fc.constantFrom("overload", "failures", "quota", "parked", "unparked", "probe-failed", "recovered", "ended"),
  count,
  since: amount,
  changedAt: amount,
  waitMs: amount,
  isProbed: fc.boolean(),
  refusalMs: amount,
  probes: count,
  prober: fc.constant("agent"),
  probedAt: amount,
  origin: fc.constant("agent"),
  reason: fc.string({ maxLength: 300 }),
});
const sign = fc.constantFrom("alive" as const, "overload" as const, "failure" as const);
const report = fc.record({
  endpoint: fc.string({ maxLength: 300 }),
  model: fc.option(fc.string({ maxLength: 300 }), { nil: undefined }),
  register: fc.option(register, { nil: undefined }),
  answers: fc.option(fc.record({ signs: fc.array(sign, { maxLength: 20 }), count }), { nil: undefined }),
});
const head: Message = {
  id: "agent",
  incarnation: 1,
  seq: 1,
  upMs: 0,
  nextMs: 1_000,
  weight: 1,
  members: 1,
  bye: false,
  quotas: [],
};

test("every report of an agent can be decoded, in messages of any size", () => {
  fc.assert(
    fc.property(fc.array(report, { maxLength: 20 }), fc.integer({ min: 600, max: 4_000 }), (availability, bytes) => {
      const payloads = encodePresence({ ...head, availability }, bytes);
      const read = payloads.flatMap((payload) => decodePresence(payload).availability ?? []);
      const names = ({ endpoint, model }: { endpoint: string; model: string | undefined }) => [endpoint, model];
      const isReadable = ({ endpoint, model = "-" }: (typeof availability)[number]) =>
        [endpoint, model].every(({ length }) => length >= 1 && length <= 256);
      expect(read.map(names)).toEqual(availability.filter(isReadable).map(names));
    }),
  );
});

test("a report is the same after encoding and decoding", () => {
  const one = {
    endpoint: "eu",
    model: "big",
    register: {
      epoch: 3,
      state: "parked" as const,
      cause: "quota" as const,
      count: 2,
      since: 10,
      changedAt: 5,
      waitMs: 60_000,
      isProbed: true,
      refusalMs: 20,
      probes: 1,
      prober: "other",
      probedAt: 2,
      origin: "agent",
      reason: "quota gone",
    },
    answers: { signs: ["alive", "overload", "failure"] as const, count: 7 },
  };
  const [payload] = encodePresence({ ...head, availability: [one] }, 60_000);
  expect(decodePresence(payload as Uint8Array).availability).toEqual([one]);
});

test("a state of a later version is left out, and the rest of the message counts", () => {
  const text = JSON.stringify({ v: 1, agent_id: "a", life: 1, seq: 1, up_ms: 0, next_ms: 1, weight: 1, members: 1 });
  const later = { endpoint: "eu", epoch: 1, state: "asleep", cause: "night" };
  const payload = new TextEncoder().encode(`${text.slice(0, -1)},"availability":[${JSON.stringify(later)}]}`);
  expect(decodePresence(payload)).toMatchObject({ id: "a", availability: [] });
});

test("an operator's decision is the same after decoding, and is no announcement of a capacity", () => {
  const decision = {
    action: "park" as const,
    endpoint: "eu",
    model: undefined,
    forMs: 60_000,
    reason: "maintenance",
    agentId: "operator",
    timestamp: new Date(1_000),
  };
  expect(decodePark(encodePark(decision))).toEqual(decision);
  expect(decodePark(new TextEncoder().encode('{"resource":"eu"}'))).toBeUndefined();
  const wrong = (fields: object) => () => decodePark(new TextEncoder().encode(JSON.stringify(fields)));
  expect(wrong({ availability: { action: "sing", endpoint: "eu" } })).toThrow("unknown action");
  expect(wrong({ availability: { action: "park", endpoint: "eu", for_ms: 0 } })).toThrow("bad for_ms");
  expect(wrong({ availability: { action: "park", endpoint: "eu" }, reason: "x" })).toThrow("bad agent_id");
});
