import { memoryBus } from "@hivepace/bus";
import { bytes, text } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Hive, PRESENCE_SUBJECT } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

const WINDOW_MS = 60_000;
const EU = { id: "eu", rpmLimit: 600_000 };
const subject = `test.${PRESENCE_SUBJECT}`;

let hives: TestHives;
let swarm: Hive[];
/** Publishes a message with this report on the availability of the endpoint, in the name of an agent that nobody knows. */
let say: (report: object) => Promise<void>;

beforeEach(async () => {
  hives = new TestHives();
  const bus = await memoryBus(hives.broker, { clock: hives.clock });
  let spoken: Record<string, unknown> = {};
  await bus.subscribe(subject, (payload) => {
    spoken = JSON.parse(text(payload));
  });
  swarm = await hives.swarm(3, { endpoints: [EU] });
  let seq = 0;
  say = async (report) => {
    const availability = [{ ...CLOSED, ...report }];
    const message = { ...spoken, agent_id: "stranger", life: 1, seq: ++seq, availability };
    await bus.publish(subject, bytes(JSON.stringify(message)));
    await hives.clock.run(10);
  };
});
afterEach(() => hives.close());

const CLOSED = {
  endpoint: "eu",
  epoch: 1,
  state: "parked",
  cause: "quota",
  count: 1_000_000,
  since_age_ms: 1e9,
  age_ms: 0,
  wait_ms: 31 * 86_400_000,
  origin: "stranger",
  reason: "forged",
};
const states = () => swarm.map((hive) => hive.explain("eu").availability.state);
const first = () => swarm[0] as Hive;

describe("a stranger on an unsigned bus", () => {
  test.each(["overloaded", "broken", "parked"])(
    "that closes an endpoint for a month (%s) stops calls for a window, and no longer",
    async (state) => {
      await say({ state });
      expect(states()).toEqual([state, state, state]);
      await hives.clock.run(WINDOW_MS);
      expect(states()).toEqual(["available", "available", "available"]);
    },
  );

  test.each(["overloaded", "broken", "parked"])(
    "that closes an endpoint until a probe succeeds (%s) stops calls for a window, and no longer",
    async (state) => {
      await say({ state, probed: true, refusal_ms: 1e9 });
      const waiting = swarm.map((hive) => watch(hive.acquire({ endpoint: "eu" })));
      await hives.clock.run(WINDOW_MS + 1_000);
      waiting.find(({ lease }) => lease)?.lease?.done();
      await hives.clock.run(100);
      expect(states()).toEqual(["available", "available", "available"]);
    },
  );

  test("that claims to probe holds other probes back for half a minute per message", async () => {
    await say({ state: "overloaded", probed: true, wait_ms: 0, probes: 1, prober: "stranger", probe_age_ms: 0 });
    const waiting = swarm.map((hive) => watch(hive.acquire({ endpoint: "eu" })));
    await hives.clock.run(29_000);
    expect(waiting.every(({ lease }) => lease === undefined)).toBe(true);
    await hives.clock.run(2_000);
    expect(waiting.some(({ lease }) => lease !== undefined)).toBe(true);
  });

  test.each([
    ["overload", 10_000],
    ["quota", WINDOW_MS],
  ] as const)(
    "that reports a million closures lengthens a later wait (%s) to a window at most",
    async (kind, mostMs) => {
      await say({ state: "available", cause: "recovered", wait_ms: 0 });
      await hives.clock.run(2_000);
      for (let i = 0; i < 12; i++) first().tryAcquire({ endpoint: "eu" }).lease?.refused({ reason: "refused", kind });
      expect(first().explain("eu").availability.retryAfterMs).toBeLessThanOrEqual(2 * mostMs);
    },
  );

  test("that opens a closed endpoint costs one call of each agent", async () => {
    let epoch = 10;
    let sent = 0;
    const refuse = async () => {
      for (const hive of swarm) {
        const lease = hive.tryAcquire({ endpoint: "eu", model: "big" }).lease;
        if (lease) sent++;
        lease?.refused({ reason: "quota gone", kind: "quota", retryAfterMs: 3_600_000 });
      }
    };
    await refuse();
    await hives.clock.run(1_000);
    expect(sent).toBe(3);
    await say({ model: "big", state: "available", cause: "unparked", wait_ms: 0, epoch: epoch++ });
    await refuse();
    await hives.clock.run(1_000);
    await refuse();
    expect(sent).toBeLessThanOrEqual(6);
  });
});
