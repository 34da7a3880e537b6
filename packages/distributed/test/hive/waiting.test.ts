import type { Lease } from "@hivepace/core";
import { describe, expect, test } from "vitest";
import { eachTest } from "../support/each-test.ts";
import { watch } from "../support/hives.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

describe("waiting", () => {
  test("an aborted or late wait costs nothing and leaves at once, even from the head", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }] });
    await hive.acquire({ endpoint: "eu" });
    const controller = new AbortController();
    const aborted = watch(hive.acquire({ endpoint: "eu", signal: controller.signal }));
    const late = watch(hive.acquire({ endpoint: "eu", timeoutMs: 5_000 }));
    const patient = watch(hive.acquire({ endpoint: "eu" }));
    await world.hives.clock.run(1_000);
    expect(hive.status().waiting).toBe(3);
    controller.abort(new Error("enough"));
    await world.hives.clock.run(1);
    expect(aborted.error).toMatchObject({ message: "enough" });
    await world.hives.clock.run(4_000);
    expect(late.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "timeout" });
    const { message, retryAfterMs } = late.error as { message: string; retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(message).toMatch(/^no capacity for "eu": waited 500\d ms, limited by endpoint-rpm, retry in \d{5,6} ms$/);
    expect(hive.status().waiting).toBe(1);
    await world.hives.clock.run(56_000);
    expect(patient.lease).toBeDefined();
    await expect(hive.acquire({ endpoint: "eu", signal: controller.signal })).rejects.toThrow("enough");
  });

  test("a full queue is an error, and a request without a timeout does not wait", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }], maxQueue: 1 });
    await hive.acquire({ endpoint: "eu" });
    await expect(hive.acquire({ endpoint: "eu", timeoutMs: 0 })).rejects.toMatchObject({ reason: "timeout" });
    watch(hive.acquire({ endpoint: "eu" }));
    await world.hives.clock.run(1);
    await expect(hive.acquire({ endpoint: "eu" })).rejects.toMatchObject({
      code: "CAPACITY_EXHAUSTED",
      reason: "queue-full",
    });
  });

  test("an exhausted key does not delay the others", async () => {
    const hive = await world.hives.alone({
      endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }],
      keys: { poor: { rpmLimit: 1 } },
    });
    (await hive.acquire({ endpoint: "eu", key: "poor" })).done();
    const first = await hive.acquire({ endpoint: "eu" });
    const poor = watch(hive.acquire({ endpoint: "eu", key: "poor" }));
    const rich = watch(hive.acquire({ endpoint: "eu", key: "rich" }));
    await world.hives.clock.run(1);
    first.done();
    await world.hives.clock.run(1);
    expect([poor.lease, rich.lease?.endpoint]).toEqual([undefined, "eu"]);
    rich.lease?.done();
    await world.hives.clock.run(60_100);
    expect(poor.lease).toBeDefined();
  });

  test("a try is not behind waiters whose key is exhausted", async () => {
    const hive = await world.hives.alone({ endpoints: [EU], keys: { poor: { rpmLimit: 1 } } });
    await hive.acquire({ endpoint: "eu", key: "poor", tokens: 1 });
    watch(hive.acquire({ endpoint: "eu", key: "poor", tokens: 1 }));
    await world.hives.clock.run(1);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("keys alternate, however many requests wait for one of them", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] });
    let open = await hive.acquire({ endpoint: "eu" });
    const order: string[] = [];
    const wait = (key: string) =>
      void hive.acquire({ endpoint: "eu", key }).then((lease) => {
        order.push(key);
        open = lease;
      });
    for (let i = 0; i < 4; i++) wait("a");
    for (let i = 0; i < 2; i++) wait("b");
    wait("c");
    for (let i = 0; i < 7; i++) {
      open.done();
      await world.hives.clock.run(1);
    }
    expect(order).toEqual(["a", "b", "c", "a", "b", "a", "a"]);
  });

  test("a higher priority goes first within its key, and a low one does not starve", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] });
    let open = await hive.acquire({ endpoint: "eu" });
    const order: string[] = [];
    const wait = (name: string, priority: number) =>
      void hive.acquire({ endpoint: "eu", priority }).then((lease) => {
        order.push(name);
        open = lease;
      });
    wait("low", 0);
    await world.hives.clock.run(2_000);
    wait("high", 5);
    await world.hives.clock.run(4_000);
    wait("late", 5);
    for (let i = 0; i < 3; i++) {
      open.done();
      await world.hives.clock.run(1);
    }
    expect(order).toEqual(["high", "low", "late"]);
  });

  test("a try does not overtake waiters", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 900 });
    const large = watch(hive.acquire({ endpoint: "eu", tokens: 500 }));
    await world.hives.clock.run(1);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed).toBe(false);
    lease.cancel();
    await world.hives.clock.run(1);
    expect(large.lease).toBeDefined();
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed).toBe(true);
  });

  describe("a revised estimate", () => {
    const waiting = (tokens: number, more: object = {}) => {
      const line: { revise?: (estimate: { tokens: number }) => void; ended: number } = { ended: 0 };
      const request = {
        endpoint: "eu",
        tokens,
        ...more,
        whileWaiting: (revise: (estimate: { tokens: number }) => void) => {
          line.revise = revise;
          return () => void line.ended++;
        },
      };
      return { line, request };
    };

    test("lets a waiting request be sent as soon as it fits, and is what it counts", async () => {
      const hive = await world.hives.alone({ endpoints: [EU] });
      await hive.acquire({ endpoint: "eu", tokens: 600 });
      const { line, request } = waiting(900);
      const wait = watch(hive.acquire(request));
      await world.hives.clock.run(1);
      line.revise?.({ tokens: 300 });
      await world.hives.clock.run(0);
      expect([wait.lease?.endpoint, line.ended]).toEqual(["eu", 1]);
      expect(hive.explain("eu").limits.find(({ dimension }) => dimension === "tokens")?.used).toBe(900);
      wait.lease?.done();
      line.revise?.({ tokens: 5 });
      expect(hive.explain("eu").limits.find(({ dimension }) => dimension === "tokens")?.used).toBe(900);
    });

    test("keeps the place of a request, among those that arrived at the same time as well", async () => {
      const hive = await world.hives.alone({ endpoints: [EU] });
      await hive.acquire({ endpoint: "eu", tokens: 1_000 });
      const order: string[] = [];
      const wait = (name: string, tokens: number) => {
        const { line, request } = waiting(tokens);
        void hive.acquire(request).then(
          () => order.push(name),
          () => undefined,
        );
        return line;
      };
      const lines = ["a", "b", "c", "d"].map((name) => wait(name, 900));
      await world.hives.clock.run(1);
      for (const line of [lines[2], lines[0], lines[1]]) line?.revise?.({ tokens: 100 });
      await world.hives.clock.run(60_100);
      expect(order).toEqual(["a", "b", "c"]);
    });

    test("counts at the limits of a tenant key as well", async () => {
      const hive = await world.hives.alone({ endpoints: [EU], keys: { poor: { tpmLimit: 500 } } });
      await hive.acquire({ endpoint: "eu", key: "poor", tokens: 400 });
      const { line, request } = waiting(300, { key: "poor" });
      const wait = watch(hive.acquire(request));
      await world.hives.clock.run(1);
      expect(wait.lease).toBeUndefined();
      line.revise?.({ tokens: 100 });
      await world.hives.clock.run(0);
      expect(wait.lease).toBeDefined();
    });

    test("reaches the claim of the agent, so that other agents wait no longer than for the new estimate", async () => {
      const [own, other] = await world.hives.swarm(2, { endpoints: [EU] });
      const first = watch(own?.acquire({ endpoint: "eu", tokens: 600 }) as Promise<Lease>);
      await world.hives.clock.run(2_000);
      expect(first.lease).toBeDefined();
      const { line, request } = waiting(900);
      const wait = watch(own?.acquire(request) as Promise<Lease>);
      await world.hives.clock.run(2_000);
      const behind = watch(other?.acquire({ endpoint: "eu", tokens: 100 }) as Promise<Lease>);
      line.revise?.({ tokens: 200 });
      await world.hives.clock.run(5_000);
      expect([wait.lease, behind.lease].map((lease) => lease?.endpoint)).toEqual(["eu", "eu"]);
    });

    test("that is larger than the limit ends the wait", async () => {
      const hive = await world.hives.alone({ endpoints: [EU] });
      await hive.acquire({ endpoint: "eu", tokens: 1_000 });
      const { line, request } = waiting(900);
      const wait = watch(hive.acquire(request));
      await world.hives.clock.run(1);
      line.revise?.({ tokens: 2_000 });
      await world.hives.clock.run(0);
      expect([wait.error, line.ended]).toMatchObject([{ reason: "too-large" }, 1]);
    });

    test("is offered when a request has to wait only, and a mistake of its function ends the wait", async () => {
      const hive = await world.hives.alone({ endpoints: [EU] });
      const { line, request } = waiting(900);
      await hive.acquire(request);
      expect(line.revise).toBeUndefined();
      const broken = {
        ...request,
        whileWaiting: () => {
          throw new Error("broken");
        },
      };
      await expect(hive.acquire(broken)).rejects.toThrow("broken");
      expect(hive.status().waiting).toBe(0);
      await expect(hive.acquire({ ...request, whileWaiting: 1 as never })).rejects.toMatchObject({
        option: "whileWaiting",
      });
    });
  });
});
