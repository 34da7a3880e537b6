import { readdirSync, readFileSync } from "node:fs";
import { bytes, text } from "@hivepace/test-kit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BINS,
  type Climb,
  type Level,
  type Message,
  MOST_REFUNDS,
  type QuotaReport,
  type Spread,
} from "../engine/index.ts";
import { BadMessage } from "./fields.ts";
import { decodePresence, encodePresence } from "./presence.ts";
import { MOST_BYTES_SENT } from "./subjects.ts";

const amount = fc.double({ min: 0, max: 1e9, noNaN: true });
const positive = fc.double({ min: 1e-3, max: 1e9, noNaN: true });
const age = fc.nat({ max: 1e9 });
const positiveAge = fc.integer({ min: 1, max: 1e9 });
const name = fc.string({ minLength: 1, maxLength: 200, unit: "binary" }).filter((it) => it.length <= 200);

const climb: fc.Arbitrary<Climb> = fc.record({
  good: fc.double({ min: 1e-9, max: 1, noNaN: true }),
  holdMs: age,
  climbMs: positiveAge,
  probeMs: age,
  growMs: positiveAge,
  failures: fc.nat({ max: 1e9 }),
});

const spread: fc.Arbitrary<Spread> = fc.record({
  dimensions: fc.uniqueArray(fc.constantFrom("requests", "tokens", "input_tokens", "output_tokens"), { maxLength: 4 }),
  windowMs: fc.double({ min: 1_000, max: 1e9, noNaN: true }),
  used: fc.double({ min: 0, max: 10, noNaN: true }),
  at: age,
  stayMs: fc.integer({ min: 0, max: 86_400_000 }),
});

const level: fc.Arbitrary<Level> = fc.record({
  epoch: fc.integer({ min: 1, max: 1e15 }),
  pauseCount: fc.nat({ max: 1e9 }),
  levelAtCut: fc.double({ min: 1e-9, max: 1, noNaN: true }),
  recoveryFactor: fc.double({ min: 1, max: 1_000, noNaN: true }),
  recoveryIntervalMs: fc.double({ min: 1, max: 1e9, noNaN: true }),
  levelMax: fc.double({ min: 1, max: 1_000, noNaN: true }),
  cutAt: age,
  pausedAt: age,
  pauseMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
  origin: name,
  reason: fc.string({ maxLength: 200 }),
  climb: fc.option(climb, { nil: undefined }),
  spread: fc.option(spread, { nil: undefined }),
});

const report: fc.Arbitrary<QuotaReport> = fc.integer({ min: 1, max: 4 }).chain((length) => {
  const amounts = fc.array(amount, { minLength: length, maxLength: length });
  const bins = fc.array(amounts, { minLength: BINS, maxLength: BINS });
  return fc.record({
    name,
    windowMs: positive,
    limits: fc.array(positive, { minLength: length, maxLength: length }),
    spentTotal: amounts,
    refundedTotal: amounts,
    refundAgeMs: age,
    refunds: fc.option(fc.array(fc.record({ ageMs: age, amounts }), { minLength: 1, maxLength: MOST_REFUNDS }), {
      nil: undefined,
    }),
    used: amounts,
    bins,
    demand: amounts,
    claim: fc.option(
      fc.record({
        amounts,
        next: amounts,
        virtualTime: amount,
        tie: fc.nat({ max: 2 ** 32 - 1 }),
        waitedMs: age,
      }),
      { nil: undefined },
    ),
    virtualTime: amount,
    level: fc.option(level, { nil: undefined }),
    joinSnapshot: fc.option(fc.oneof(bins, fc.array(amounts, { minLength: 120, maxLength: 120 })), { nil: undefined }),
  });
});

const message: fc.Arbitrary<Message> = fc.record({
  id: name,
  incarnation: fc.nat(),
  seq: fc.integer({ min: 1, max: 1e9 }),
  upMs: age,
  nextMs: fc.double({ min: 0, max: 3_600_000, noNaN: true }),
  weight: fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
  members: fc.integer({ min: 1, max: 1e6 }),
  bye: fc.boolean(),
  quotas: fc.array(report, { maxLength: 5 }),
});

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

test("an encoded message decodes to the same", () => {
  fc.assert(
    fc.property(message, (original) => {
      const payloads = encodePresence(original, MOST_BYTES_SENT);
      expect(payloads).toHaveLength(1);
      expect(plain(decodePresence(payloads[0] as Uint8Array))).toEqual(plain(original));
    }),
  );
});

test("a large message is split into parts that each fit, and together contain all of it", () => {
  fc.assert(
    fc.property(message, fc.integer({ min: 1_000, max: 20_000 }), (original, maxBytes) => {
      const payloads = encodePresence(original, maxBytes);
      const parts = payloads.map(decodePresence);
      expect(plain(parts.flatMap(({ quotas }) => quotas))).toEqual(plain(original.quotas));
      // Sequence numbers ascend from the previous message to this one, so that no part counts as stale.
      const numbers = parts.map(({ seq }) => seq);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers[0]).toBeGreaterThan(original.seq - 1);
      expect(numbers.at(-1)).toBe(original.seq);
      // Receivers ignore messages after a goodbye, so only the last part carries it.
      expect(parts.map(({ bye }) => bye)).toEqual(parts.map((_, i) => original.bye && i === parts.length - 1));
      for (const [i, payload] of payloads.entries())
        if ((parts[i] as Message).quotas.length > 1) expect(payload.length).toBeLessThanOrEqual(maxBytes);
    }),
  );
});

const one: Message = {
  id: "agent-1",
  incarnation: 1_893_456_000_000_123,
  seq: 7,
  upMs: 3_000.7,
  nextMs: 1_000,
  weight: 1,
  members: 3,
  bye: false,
  quotas: [
    {
      name: "openai",
      windowMs: 60_000,
      limits: [1_000],
      spentTotal: [120],
      refundedTotal: [2],
      refundAgeMs: 99.2,
      used: [40],
      bins: Array.from({ length: BINS }, (_, i) => [i < 3 ? 13 : 0]),
      demand: [5],
      claim: { amounts: [5], next: [1], virtualTime: 0.12, tie: 5, waitedMs: 250.9 },
      virtualTime: 0.12,
      level: undefined,
      joinSnapshot: undefined,
    },
  ],
};
const fields = JSON.parse(text(encodePresence(one, MOST_BYTES_SENT)[0] as Uint8Array)) as {
  pools: Record<string, unknown>[];
} & Record<string, unknown>;
const decode = (value: unknown) => decodePresence(bytes(JSON.stringify(value)));
const withQuota = (change: object) => decode({ ...fields, pools: [{ ...fields.pools[0], ...change }] });

test("the message has named fields, and omits empty ones", () => {
  const bare = {
    ...one,
    quotas: [{ ...one.quotas[0], spentTotal: [0], refundedTotal: [-1e-9], demand: [0], claim: undefined }],
  };
  const [payload] = encodePresence(bare as Message, MOST_BYTES_SENT);
  expect(JSON.parse(text(payload as Uint8Array))).toEqual({
    v: 1,
    agent_id: "agent-1",
    life: 1_893_456_000_000_123,
    seq: 7,
    up_ms: 3_000,
    next_ms: 1_000,
    weight: 1,
    members: 3,
    pools: [
      {
        resource: "openai",
        window_ms: 60_000,
        limits: [1_000],
        back_age_ms: 100,
        used: [40],
        bins: [[13], [13], [13]],
        turn: 0.12,
      },
    ],
  });
});

test("a wait of unknown length is omitted, and decodes to none", () => {
  const claim = { amounts: [5], next: [1], virtualTime: 0, tie: 5, waitedMs: -Infinity };
  const [payload] = encodePresence({ ...one, quotas: [{ ...one.quotas[0], claim } as QuotaReport] }, MOST_BYTES_SENT);
  expect(decodePresence(payload as Uint8Array).quotas[0]?.claim?.waitedMs).toBe(0);
});

test("slots decode to the encoded ones, with times rounded up", () => {
  const adaptive = { epoch: 3, base: 8, steps: 2, changedAt: 4_000 };
  const slots = { heldMs: 1_200.5, endsMs: 899_000, adaptive, departed: 2, departedMs: 5_000.1 };
  const [payload] = encodePresence(
    { ...one, quotas: [{ ...one.quotas[0], ...slots } as QuotaReport] },
    MOST_BYTES_SENT,
  );
  const read = decodePresence(payload as Uint8Array).quotas[0];
  expect(read).toMatchObject({ heldMs: 1_201, endsMs: 899_000, adaptive, departed: 2, departedMs: 5_001 });
});

test("an agent that observes says so, and no other agent does", () => {
  const observing = decode({ ...fields, observes: true });
  expect(observing.observes).toBe(true);
  const [payload] = encodePresence(observing, MOST_BYTES_SENT);
  expect(decodePresence(payload as Uint8Array)).toEqual(observing);
  expect(decode({ ...fields, observes: "yes" })).toEqual(decode(fields));
});

test("a delay is rounded up, and left out when there is none", () => {
  const slow = { ...decode(fields), echoMs: 1_234.5 };
  const [payload] = encodePresence(slow, MOST_BYTES_SENT);
  expect(decodePresence(payload as Uint8Array).echoMs).toBe(1_235);
  expect(text(encodePresence(decode(fields), MOST_BYTES_SENT)[0] as Uint8Array)).not.toContain("echo_ms");
});

test("unknown fields are ignored, at any depth", () => {
  expect(decode({ ...fields, later: 1, pools: [{ ...fields.pools[0], later: { x: 1 } }] })).toEqual(decode(fields));
});

test("a higher major version is refused as such, whatever else the message contains", () => {
  expect(() => decode({ v: 2 })).toThrow(new BadMessage("newer version"));
});

test("every recorded message, of each version, is understood", () => {
  const folder = new URL("../../test/fixtures/presence/", import.meta.url);
  for (const file of readdirSync(folder)) {
    const { payload, expect: expected } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as {
      payload: string;
      expect: unknown;
    };
    expect(plain(decodePresence(bytes(payload))), file).toEqual(expected);
  }
});

describe("a bad field is named and the message refused", () => {
  test.each([
    ["v", [undefined, 0, "1", 1.5]],
    ["agent_id", [undefined, "", 5, "x".repeat(201)]],
    ["life", [undefined, -1, 0.5, "1"]],
    ["seq", [undefined, 0, 1.5, "1"]],
    ["up_ms", [undefined, -1, "1"]],
    ["next_ms", [undefined, -1, 3_600_001]],
    ["weight", [undefined, 0, -1, 1e7]],
    ["members", [undefined, 0, 1.5, 1e7]],
    ["echo_ms", [-1, 60_001, "1", null]],
    ["pools", [null, {}, "x"]],
  ])("%s", (name, values) => {
    for (const value of values)
      expect(() => decode({ ...fields, [name]: value }), String(value)).toThrow(new BadMessage(`bad ${name}`));
  });

  test.each([
    ["resource", [undefined, "", 5, "x".repeat(257)]],
    ["window_ms", [undefined, 0, -1, "1"]],
    ["limits", [undefined, [], [0], [-1], ["1"], new Array(9).fill(1)]],
    ["sent", [[], [-1], ["1"], [1, 1], [null], 1]],
    ["back", [[-1]]],
    ["back_age_ms", [-1, "1"]],
    ["used", [[-1]]],
    ["bins", [[[-1]], [1], new Array(BINS + 1).fill([1]), {}, null]],
    ["waiting", [[-1]]],
    ["claim", [null, [], { amounts: [1] }, { amounts: [-1], next: [1] }]],
    ["turn", [undefined, -1, "0"]],
    ["level", [null, []]],
    ["seen", [[[-1]], null]],
    ["held_ms", [-1, "1", null]],
    ["ends_ms", [-1, "1", null]],
    ["adaptive", [null, []]],
    ["departed", [-1, "1", null]],
    ["departed_ms", [-1, "1", null]],
  ])("of a quota: %s", (name, values) => {
    for (const value of values)
      expect(() => withQuota({ [name]: value }), JSON.stringify(value)).toThrow(new BadMessage(`bad ${name}`));
  });

  test("of a join snapshot", () => {
    expect(withQuota({ seen: [[1]] }).quotas[0]?.joinSnapshot).toHaveLength(BINS);
    expect(withQuota({ seen: [[1]], seen_bins: 120 }).quotas[0]?.joinSnapshot).toHaveLength(120);
    for (const value of [0, 1.5, "12", 1_025])
      expect(() => withQuota({ seen: [[1]], seen_bins: value })).toThrow(new BadMessage("bad seen_bins"));
    const tooMany = Array.from({ length: 121 }, () => [1]);
    expect(() => withQuota({ seen: tooMany, seen_bins: 120 })).toThrow(new BadMessage("bad seen"));
  });

  test("of a claim", () => {
    const claim = { amounts: [1], next: [1], turn: 0, tie: 5, waited_ms: 1 };
    expect(withQuota({ claim }).quotas[0]?.claim).toMatchObject({ waitedMs: 1 });
    for (const [change, name] of [
      [{ turn: -1 }, "turn"],
      [{ tie: 0.5 }, "tie"],
      [{ tie: 2 ** 32 }, "tie"],
      [{ tie: undefined }, "tie"],
      [{ waited_ms: -1 }, "waited_ms"],
      [{ next: [1, 2] }, "claim"],
    ] as const)
      expect(() => withQuota({ claim: { ...claim, ...change } })).toThrow(new BadMessage(`bad ${name}`));
  });

  test("a chunk has a valid number", () => {
    expect(decode({ ...fields, chunk: 1, chunks: 4 }).seq).toBe(6.25);
    expect(() => decode({ ...fields, chunk: 5, chunks: 4 })).toThrow(new BadMessage("bad chunk"));
    expect(() => decode({ ...fields, chunk: 1, chunks: 0 })).toThrow(new BadMessage("bad chunks"));
  });
});
