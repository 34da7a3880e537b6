import { readFileSync } from "node:fs";
import { bytes, text } from "@hivepace/test-kit";
import { describe, expect, test } from "vitest";
import type { Level } from "../engine/index.ts";
import { agentOf, decodeCapacity, encodeCapacity, foreignOrigin } from "./capacity.ts";
import { BadMessage } from "./fields.ts";

const level: Level = {
  epoch: 3,
  pauseCount: 1,
  levelAtCut: 0.5,
  recoveryFactor: 1.1,
  recoveryIntervalMs: 30_000,
  levelMax: 1,
  cutAt: 12,
  pausedAt: 12,
  pauseMs: 500,
  origin: "agent-1",
  reason: "429",
};
const message = {
  resource: "openai",
  agentId: "agent-1",
  newCapacity: 50,
  reason: "received 429",
  timestamp: new Date("2030-01-02T03:04:05.678Z"),
  ours: { life: 17, seq: 2, level },
};
const five = {
  resource: "openai",
  agent_id: "go-agent",
  new_capacity: 30,
  reason: "received 429 response",
  timestamp: "2030-01-02T03:04:05.123456789+02:00",
};
const decode = (fields: unknown) => decodeCapacity(bytes(JSON.stringify(fields)));

test("an announcement has the five fields that every agent knows, and our own", () => {
  expect(JSON.parse(text(encodeCapacity(message)))).toEqual({
    resource: "openai",
    agent_id: "agent-1",
    new_capacity: 50,
    reason: "received 429",
    timestamp: "2030-01-02T03:04:05.678Z",
    v: 1,
    life: 17,
    seq: 2,
    level: expect.objectContaining({ epoch: 3, base: 0.5, cut_age_ms: 12, origin: "agent-1" }),
  });
});

test("an encoded message decodes to the same", () => {
  expect(decodeCapacity(encodeCapacity(message))).toEqual({ ...message, isNewer: false });
});

test.each([
  [0.2, 1],
  [1, 1],
  [52.9, 52],
])("a capacity of %d is announced as the whole number %d", (newCapacity, whole) => {
  expect(JSON.parse(text(encodeCapacity({ ...message, newCapacity })))).toMatchObject({ new_capacity: whole });
});

test("ages are rounded down, or a cut would grow older with each agent that relays it", () => {
  const { ours } = decodeCapacity(
    encodeCapacity({ ...message, ours: { life: 1, seq: 1, level: { ...level, cutAt: 12.9, pausedAt: 0.9 } } }),
  );
  expect(ours?.level).toMatchObject({ cutAt: 12, pausedAt: 0 });
});

test("a message with only the five fields is understood, with any other fields", () => {
  expect(decode({ ...five, extra: { deep: [1] } })).toEqual({
    resource: "openai",
    agentId: "go-agent",
    newCapacity: 30,
    reason: "received 429 response",
    timestamp: new Date("2030-01-02T01:04:05.123Z"),
    ours: undefined,
    isNewer: false,
  });
});

test("of a newer version the five fields are understood", () => {
  expect(decode({ ...five, v: 2, level: "anything" })).toMatchObject({
    newCapacity: 30,
    ours: undefined,
    isNewer: true,
  });
});

test("every recorded announcement is understood", () => {
  const recorded = JSON.parse(readFileSync(new URL("../../test/fixtures/capacity.json", import.meta.url), "utf8")) as {
    about: string;
    payload: string;
    expect: object;
  }[];
  for (const { about, payload, expect: expected } of recorded) {
    const { timestamp, ...decoded } = decodeCapacity(bytes(payload));
    expect(JSON.parse(JSON.stringify({ ...decoded, timestamp: timestamp.toISOString() })), about).toEqual(expected);
  }
});

describe("a bad field is named and the message refused", () => {
  test.each([
    ["resource", [undefined, "", 7, "x".repeat(257)]],
    ["agent_id", [undefined, "", null, "x".repeat(201)]],
    ["new_capacity", [undefined, 0, -1, 1.5, "30", null, Number.MAX_SAFE_INTEGER + 2]],
    ["reason", [undefined, 3, "x".repeat(4_097)]],
    [
      "timestamp",
      [undefined, 1_700_000_000, "yesterday", "2030-01-02", "2030-13-02T03:04:05Z", "2030-01-02 03:04:05Z"],
    ],
  ])("%s", (name, values) => {
    for (const value of values)
      expect(() => decode({ ...five, [name]: value }), String(value)).toThrow(new BadMessage(`bad ${name}`));
  });

  test.each([
    ["life", [undefined, -1, 1.5, "1"]],
    ["seq", [undefined, 0, 0.5]],
    ["level", [undefined, null, [], "x"]],
  ])("of ours: %s", (name, values) => {
    const ours = JSON.parse(text(encodeCapacity(message))) as object;
    for (const value of values) expect(() => decode({ ...ours, [name]: value })).toThrow(new BadMessage(`bad ${name}`));
  });

  test.each([
    ["epoch", [undefined, 0, 1.5, 1e16, "1"]],
    ["round", [undefined, -1, 0.5, 1e10]],
    ["base", [undefined, 0, -0.5, 1_001, null]],
    ["recovery_factor", [undefined, 0.99, 1_001]],
    ["recovery_interval_ms", [undefined, 0, 1e12]],
    ["most", [undefined, 0.99, 1_001]],
    ["cut_age_ms", [undefined, -1, 1e12]],
    ["pause_age_ms", [undefined, -1, 1e12]],
    ["pause_ms", [undefined, -1, 1e12]],
    ["origin", [undefined, "", "x".repeat(257)]],
    ["reason", [undefined, 1, "x".repeat(201)]],
  ])("of a level: %s", (name, values) => {
    const ours = JSON.parse(text(encodeCapacity(message))) as { level: object };
    for (const value of values)
      expect(() => decode({ ...ours, level: { ...ours.level, [name]: value } }), String(value)).toThrow(
        new BadMessage(`bad ${name}`),
      );
  });
});

test.each(["", "{", "null", "[]", "7", '"x"', "\u0000"])(
  "input that is not a JSON object is refused: %j",
  (payload) => {
    expect(() => decodeCapacity(bytes(payload))).toThrow(BadMessage);
  },
);

test("bytes that are not UTF-8 are refused", () => {
  expect(() => decodeCapacity(new Uint8Array([0x7b, 0xff, 0x7d]))).toThrow(new BadMessage("no JSON"));
});

test("no two messages of such an agent have the same origin, and all receivers derive the same origin", () => {
  const [one, other] = [new Date(1_000), new Date(1_001)];
  expect(foreignOrigin("a", one)).toBe(foreignOrigin("a", one));
  expect(new Set([foreignOrigin("a", one), foreignOrigin("a", other), foreignOrigin("b", one)]).size).toBe(3);
  expect(agentOf(foreignOrigin("go-agent", one))).toBe("go-agent");
  expect(agentOf("an agent of ours")).toBe("an agent of ours");
});
