import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { CENTRAL_ROUND_TRIP_MS } from "../rows.ts";
import { CentralBucket } from "./central-bucket.ts";
import { CentralBuckets, centralGatekeeper, localGatekeeper } from "./gatekeeper.ts";

const limits = { rpm: 60, tpm: 6_000, windowMs: 60_000, mostTokens: 300 };
const never = new AbortController().signal;

test("the central bucket takes requests and tokens in one step, or returns the time to wait", () => {
  const clock = new ManualClock();
  const bucket = new CentralBucket(limits, { requests: 2, tokens: 300 }, clock);
  expect(bucket.take(200)).toBe(0);
  expect(bucket.take(200)).toBe(1_000);
  expect(bucket.take(100)).toBe(0);
  expect(bucket.take(0)).toBe(1_000);
  clock.advance(999);
  expect(bucket.take(0)).toBeGreaterThan(0);
  clock.advance(1);
  expect(bucket.take(50)).toBe(0);
  clock.advance(3_600_000);
  expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 1_000]);
});

test("a client of the central bucket pays a round trip for each attempt, and waits while the server is away", async () => {
  const clock = new ManualClock();
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
    clock.advance(ms);
    if (slept.length === 5) client.setReachable(true);
  };
  const client = centralGatekeeper(new CentralBucket(limits, { requests: 1, tokens: 300 }, clock), sleep);
  await client.acquire(10, never);
  expect(slept).toEqual([CENTRAL_ROUND_TRIP_MS]);
  client.setReachable(false);
  await client.acquire(10, never);
  const away = [CENTRAL_ROUND_TRIP_MS, 1_000];
  expect(slept.slice(1)).toEqual([...away, ...away, CENTRAL_ROUND_TRIP_MS]);
});

test("agents of one namespace share a central bucket", () => {
  const [buckets, clock] = [new CentralBuckets(), new ManualClock()];
  const of = (namespace: string) => buckets.of({ ...limits, namespace }, clock);
  expect(of("a")).toBe(of("a"));
  expect(of("a")).not.toBe(of("b"));
});

test("a local limiter admits a tenth of a window at once, and an abort ends the wait for more", async () => {
  const gate = localGatekeeper(limits, new ManualClock());
  for (let i = 0; i < 6; i++) await gate.acquire(50, never);
  const stop = new AbortController();
  const waiting = gate.acquire(50, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  await gate.close();
});
