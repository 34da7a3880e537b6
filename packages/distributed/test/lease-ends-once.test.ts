import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type channelNames, isHivepaceError, type Lease } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

let hives: TestHives;
let stops: (() => void)[];
beforeEach(() => {
  hives = new TestHives();
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) stop();
  await hives.close();
});

/** Calls back on the first event of the channel, synchronously inside the publishing code. */
function onFirst(channel: (typeof channelNames)[keyof typeof channelNames], callback: () => void): void {
  let isCalled = false;
  const listener = (): void => {
    if (isCalled) return;
    isCalled = true;
    callback();
  };
  subscribe(channel, listener);
  stops.push(() => unsubscribe(channel, listener));
}

function stateOf(hive: Hive): { used: number[]; inFlight: number; leases: number } {
  const { limits, inFlight } = hive.explain("eu");
  return { used: limits.map(({ used }) => used), inFlight, leases: hive.status().leases };
}

const ENDS: readonly (readonly [string, (lease: Lease) => void])[] = [
  ["done", (lease) => lease.done({ tokens: 10 })],
  ["cancel", (lease) => lease.cancel()],
  ["refused", (lease) => lease.refused({ reason: "429" })],
  ["renew", (lease) => lease.renew()],
];

describe("a lease ends once", () => {
  for (const [name, again] of ENDS) {
    test(`when a listener that hears of its refusal calls ${name}`, async () => {
      const hive = await hives.alone({ endpoints: [EU] });
      await hive.acquire({ endpoint: "eu", tokens: 100 });
      const lease = await hive.acquire({ endpoint: "eu", tokens: 100 });
      onFirst("hivepace:announced", () => again(lease));
      lease.refused({ reason: "429" });
      expect(stateOf(hive)).toEqual({ used: [1, 100], inFlight: 1, leases: 1 });
    });

    test(`when a listener that hears of its end calls ${name}`, async () => {
      const hive = await hives.alone({ endpoints: [EU] });
      await hive.acquire({ endpoint: "eu", tokens: 100 });
      const lease = await hive.acquire({ endpoint: "eu", tokens: 100 });
      onFirst("hivepace:ended", () => again(lease));
      lease.cancel();
      expect(stateOf(hive)).toEqual({ used: [1, 100], inFlight: 1, leases: 1 });
    });
  }

  test("when a listener of capacity changes cancels it and throws", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    await hive.acquire({ endpoint: "eu", tokens: 100 });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 100 });
    let changes = 0;
    hive.onCapacityChange(() => {
      changes++;
      lease.cancel();
      throw new Error("a listener that throws");
    });
    lease.refused({ reason: "429" });
    expect(changes).toBe(1);
    expect(stateOf(hive)).toEqual({ used: [1, 100], inFlight: 1, leases: 1 });
  });
});

describe("invalid arguments throw a typed error and leave the lease as it was", () => {
  const NONSENSE: readonly (readonly [name: string, option: string, end: (lease: Lease) => void])[] = [
    ["an endless wait", "retryAfterMs", (lease) => lease.refused({ reason: "429", retryAfterMs: Infinity })],
    ["a wait that is no number", "retryAfterMs", (lease) => lease.refused({ reason: "429", retryAfterMs: Number.NaN })],
    ["a negative wait", "retryAfterMs", (lease) => lease.refused({ reason: "429", retryAfterMs: -1 })],
    ["an unknown kind", "kind", (lease) => lease.refused({ reason: "429", kind: "other" as "limit" })],
    ["no reason", "reason", (lease) => lease.refused({ reason: undefined as unknown as string })],
    ["no refusal", "refusal", (lease) => lease.refused(undefined as unknown as { reason: string })],
    ["tokens that are no number", "tokens", (lease) => lease.done({ tokens: Number.NaN })],
    ["negative input tokens", "inputTokens", (lease) => lease.done({ inputTokens: -1 })],
    ["endless output tokens", "outputTokens", (lease) => lease.done({ outputTokens: Infinity })],
  ];
  for (const [name, option, end] of NONSENSE)
    test(name, async () => {
      const hive = await hives.alone({ endpoints: [EU] });
      const changes: string[] = [];
      hive.onCapacityChange(({ reason }) => changes.push(reason));
      const lease = await hive.acquire({ endpoint: "eu", tokens: 100 });
      let error: unknown;
      try {
        end(lease);
      } catch (thrown) {
        error = thrown;
      }
      expect(isHivepaceError(error, "INVALID_CONFIG") && error.option).toBe(option);
      expect(changes).toEqual([]);
      expect(hive.explain("eu").pausedForMs).toBe(0);
      expect(stateOf(hive)).toEqual({ used: [1, 100], inFlight: 1, leases: 1 });
      lease.renew();
      lease.cancel();
      expect(stateOf(hive)).toEqual({ used: [0, 0], inFlight: 0, leases: 0 });
    });

  test("a refusal that is announced with an endless wait changes no model of the endpoint", async () => {
    const hive = await hives.alone({
      endpoints: [
        { id: "eu", model: "a", rpmLimit: 10 },
        { id: "eu", model: "b", rpmLimit: 10 },
      ],
    });
    for (const details of [{ retryAfterMs: Infinity }, { retryAfterMs: Number.NaN }, { sentAgoMs: Infinity }])
      expect(() => hive.announceReduced("eu", "429", details)).toThrow(/must be a finite number of 0 or more/);
    expect(hive.status().endpoints.map(({ level }) => level)).toEqual([1, 1]);
  });
});

describe("a waiter is granted once", () => {
  test("when a listener that hears of its grant ends another call", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 2 }] });
    const first = await hive.acquire({ endpoint: "eu" });
    const second = await hive.acquire({ endpoint: "eu" });
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    onFirst("hivepace:granted", () => second.done());
    first.done();
    await hives.clock.run(10);
    expect(waiting.lease).toBeDefined();
    expect(hive.explain("eu")).toMatchObject({ inFlight: 1, waiting: 0 });
    expect(hive.status()).toMatchObject({ leases: 1, waiting: 0 });
    waiting.lease?.done();
    expect(hive.explain("eu").inFlight).toBe(0);
  });

  test("when a listener that hears of its grant aborts it", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] });
    const first = await hive.acquire({ endpoint: "eu" });
    const abort = new AbortController();
    const waiting = watch(hive.acquire({ endpoint: "eu", signal: abort.signal }));
    onFirst("hivepace:granted", () => abort.abort());
    first.done();
    await hives.clock.run(10);
    expect([waiting.lease !== undefined, waiting.error]).toEqual([true, undefined]);
    expect(hive.status()).toMatchObject({ leases: 1, waiting: 0 });
  });
});
