import type { Lease } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";
import { type Outcome, Traffic } from "./support/traffic.ts";

let hives: TestHives;
let traffic: Traffic | undefined;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(async () => {
  traffic?.stop();
  traffic = undefined;
  await hives.close();
  expect(hives.clock.pending).toBe(0);
});

const EU = { id: "eu", rpmLimit: 600_000 };
const US = { id: "us", rpmLimit: 600_000 };
const PER_SECOND = 32;

/** Starts calls of all hives at a steady rate. */
function start(swarm: readonly Hive[], options: Partial<ConstructorParameters<typeof Traffic>[0]>): Traffic {
  const provider = (): Outcome => "ok";
  traffic = new Traffic({
    clock: hives.clock,
    hives: swarm,
    perSecond: PER_SECOND / swarm.length,
    provider,
    ...options,
  });
  return traffic;
}

describe.each([1, 4, 16])("%i agents", (agents) => {
  test.each([0.005, 0.02])("random overload of %d of the answers stops nobody", async (part) => {
    const random = seededRandom(7);
    const { sent } = start(await hives.swarm(agents, { endpoints: [EU] }), {
      provider: () => (random() < part ? "overload" : "ok"),
    });
    await hives.clock.run(60_000);
    expect(sent.length).toBeGreaterThan(0.99 * PER_SECOND * 60);
  });

  test.each(["overload", "failure"] as const)(
    "an outage (%s) of a minute: few probes, and back within 3 s",
    async (how) => {
      const swarm = await hives.swarm(agents, { endpoints: [EU] });
      const from = hives.clock.now() + 10_000;
      const to = from + 60_000;
      const calls = start(swarm, { provider: (now) => (now >= from && now < to ? how : "ok") });
      await hives.clock.run(90_000);
      // Hives detect the outage within the first two seconds.
      for (let at = from + 2_000; at < to; at += 1_000)
        expect(calls.between(at, at + 1_000).length).toBeLessThanOrEqual(2);
      expect(calls.between(to + 3_000, to + 4_000).length).toBeGreaterThanOrEqual(0.9 * PER_SECOND);
      expect(calls.rejected).toBe(0);
    },
  );

  test.each(["overload", "failure", "quota"] as const)(
    "a dead endpoint of two (%s) gets under 1 % of the calls",
    async (how) => {
      const swarm = await hives.swarm(agents, { endpoints: [EU, US] });
      const { sent } = start(swarm, {
        route: ["eu", "us"],
        provider: (_, endpoint) => (endpoint === "eu" ? how : "ok"),
      });
      await hives.clock.run(120_000);
      expect(sent.length).toBeGreaterThan(0.99 * PER_SECOND * 120);
      expect(sent.filter(({ outcome }) => outcome === "ok").length).toBeGreaterThanOrEqual(0.99 * sent.length);
    },
  );

  test("a quota of one model with a reset time: at most one further call per agent, and no other model is affected", async () => {
    const swarm = await hives.swarm(agents, { endpoints: [EU] });
    const { sent } = start(swarm, { model: "big", toldMs: 14 * 3_600_000, provider: () => "quota" });
    await hives.clock.run(600_000);
    expect(sent.length).toBeLessThanOrEqual(1 + agents);
    for (const hive of swarm) {
      expect(hive.explain("eu", "big").availability).toMatchObject({ state: "parked", model: "big" });
      expect(hive.explain("eu", "small").availability).toMatchObject({ state: "available" });
      expect(hive.explain("eu", "small").level).toBe(1);
    }
  });

  test("a quota without a time is probed by one call after 1, 2, 4, 8, 16 and 30 minutes", async () => {
    const swarm = await hives.swarm(agents, { endpoints: [EU], secret: "0123456789abcdef" });
    const t0 = hives.clock.now();
    const { sent } = start(swarm, { perSecond: 0.1, provider: () => "quota" });
    await hives.clock.run(62 * 60_000);
    const known = agents + 1;
    expect(sent.length).toBeLessThanOrEqual(known + 5);
    const probes = sent.filter(({ at }) => at > t0 + 30_000).map(({ at }) => Math.round((at - t0) / 60_000));
    expect(probes).toEqual([1, 3, 7, 15, 31, 61]);
  });
});

describe("an endpoint that is not available", () => {
  const park = async (forMs?: number) => {
    const hive = await hives.alone({ endpoints: [EU, US] });
    hive.park("eu", { reason: "maintenance", ...(forMs === undefined ? {} : { forMs }) });
    return hive;
  };

  test("rejects at once a call that cannot wait long enough, with the reason and the wait", async () => {
    const hive = await park(60_000);
    const error: unknown = await hive.acquire({ endpoint: "eu", timeoutMs: 5_000 }).catch((e) => e);
    expect(error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "unavailable", retryAfterMs: 60_000 });
    expect(String(error)).toContain("maintenance");
    expect(hive.tryAcquire({ endpoint: "eu" })).toMatchObject({ reason: "unavailable", limitedBy: "unavailable" });
  });

  test("lets a call wait whose timeout is long enough", async () => {
    const hive = await park(60_000);
    const waiting = watch(hive.acquire({ endpoint: "eu", timeoutMs: 61_000 }));
    await hives.clock.run(59_000);
    expect(waiting.lease).toBeUndefined();
    await hives.clock.run(2_000);
    expect(waiting.lease?.endpoint).toBe("eu");
  });

  test("announces the wait for its limits where it is longer", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }] });
    hive.tryAcquire({ endpoint: "eu" }).lease?.done();
    hive.park("eu", { reason: "maintenance", forMs: 10_000 });
    const { reason, retryAfterMs = 0 } = hive.tryAcquire({ endpoint: "eu" });
    expect(reason).toBe("unavailable");
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(hive.explain("eu").freesInMs).toBe(retryAfterMs);
    // The endpoint opens in time, so that only the limit may end the wait.
    const late = watch(hive.acquire({ endpoint: "eu", timeoutMs: 20_000 }));
    await hives.clock.run(20_001);
    expect(late.error).toMatchObject({ reason: "timeout" });
    await hives.clock.run(retryAfterMs - 20_000);
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  });

  test("without an end is known to have none, and opens when it is unparked", async () => {
    const hive = await park();
    await expect(hive.acquire({ endpoint: "eu", timeoutMs: 1e9 })).rejects.toMatchObject({ retryAfterMs: undefined });
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(3_600_000);
    expect(waiting.lease).toBeUndefined();
    hive.unpark("eu");
    await hives.clock.run(1);
    expect(waiting.lease?.endpoint).toBe("eu");
  });

  test("rejects waiters whose timeout ends earlier", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }] });
    (await hive.acquire({ endpoint: "eu" })).done();
    const waiting = watch(hive.acquire({ endpoint: "eu", timeoutMs: 70_000 }));
    await hives.clock.run(1_000);
    hive.park("eu", { reason: "maintenance", forMs: 3_600_000 });
    await hives.clock.run(1);
    expect(waiting.error).toMatchObject({ reason: "unavailable", retryAfterMs: 3_600_000 });
  });

  test("is passed over by routes, and named in the decision", async () => {
    const hive = await park(60_000);
    expect(hive.route({ candidates: ["eu", "us"], tokens: 1 })).toMatchObject({
      endpoint: "us",
      passedOver: [{ endpoint: "eu", by: "unavailable", retryAfterMs: 60_000 }],
    });
    expect((await hive.acquire({ route: ["eu", "us"] })).endpoint).toBe("us");
    expect(hive.explain("eu")).toMatchObject({
      limitedBy: "unavailable",
      freesInMs: 60_000,
      availability: { state: "parked", reason: "maintenance", agentId: "hive-0", retryAfterMs: 60_000 },
    });
  });

  test("names the invalid argument", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    expect(() => hive.park("nowhere", { reason: "x" })).toThrow(/known are "eu"/);
    expect(() => hive.park("eu", { reason: "x", forMs: -1 })).toThrow(/forMs must be/);
    expect(() => hive.park("eu", { reason: 1 as unknown as string })).toThrow(/reason must be/);
    expect(() => hive.unpark("eu", { model: "" })).toThrow(/model must be/);
  });
});

describe("a model", () => {
  test("that is parked delays no call for another model in the same queue", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    hive.park("eu", { model: "big", reason: "maintenance" });
    const waiting = watch(hive.acquire({ endpoint: "eu", model: "big" }));
    expect((await hive.acquire({ endpoint: "eu", model: "small" })).model).toBe("small");
    expect(hive.status().endpoints.map(({ model, availability }) => [model, availability.state])).toEqual([
      [undefined, "available"],
      ["big", "parked"],
    ]);
    hive.unpark("eu");
    await hives.clock.run(1);
    expect(waiting.lease?.model).toBe("big");
  });

  test("with waits of more than two minutes is parked, and no limit is cut", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", model: "big" });
    lease.refused({ reason: "429", retryAfterMs: 14 * 3_600_000 });
    expect(hive.explain("eu")).toMatchObject({ level: 1, pausedForMs: 0, availability: { state: "available" } });
    expect(hive.explain("eu", "big").availability).toMatchObject({ state: "parked", retryAfterMs: 14 * 3_600_000 });
  });
});

describe("a circuit breaker", () => {
  const fail = async (hive: Hive, times: number, endpoint = "eu") => {
    for (let i = 0; i < times; i++) (await hive.acquire({ endpoint })).failed({ reason: "500" });
  };

  test("opens after five failures in a row, lets one call through after a second, and doubles", async () => {
    const hive = await hives.alone({ endpoints: [EU, US] });
    await fail(hive, 4);
    expect(hive.tryAcquire({ endpoint: "eu" }).lease?.done()).toBeUndefined();
    await fail(hive, 5);
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      expect(hive.explain("eu").availability).toMatchObject({ state: "broken", reason: "500" });
      // A call with an alternative avoids the broken endpoint for the whole wait.
      await hives.clock.run(waitMs - 1);
      const elsewhere = await hive.acquire({ route: ["eu", "us"] });
      expect(elsewhere.endpoint).toBe("us");
      elsewhere.done();
      await hives.clock.run(1);
      const probe = await hive.acquire({ route: ["eu", "us"] });
      expect(probe.endpoint).toBe("eu");
      expect(hive.tryAcquire({ endpoint: "eu" }).reason).toBe("unavailable");
      probe.failed({ reason: "500" });
    }
    await hives.clock.run(60_000);
    (await hive.acquire({ endpoint: "eu" })).done();
    expect(hive.explain("eu").availability.state).toBe("available");
  });

  test("opens when half of the last twenty answers are failures", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    for (let i = 0; i < 9; i++) {
      await fail(hive, 1);
      (await hive.acquire({ endpoint: "eu" })).done();
    }
    expect(hive.explain("eu").availability.state).toBe("available");
    (await hive.acquire({ endpoint: "eu" })).done();
    await fail(hive, 1);
    expect(hive.explain("eu").availability.state).toBe("broken");
  });

  test("is half-open again at once when the probe was never sent", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    await fail(hive, 5);
    await hives.clock.run(1_000);
    (await hive.acquire({ endpoint: "eu" })).cancel();
    const probe = await hive.acquire({ endpoint: "eu", timeoutMs: 0 });
    probe.answered();
    expect(hive.explain("eu").availability.state).toBe("available");
    probe.done();
  });

  test("of an agent for which alone the endpoint fails stops the others once, and not again", async () => {
    const [bad, good] = (await hives.swarm(2, { endpoints: [EU] })) as [Hive, Hive];
    const denials: number[] = [];
    for (let second = 0; second < 60; second++) {
      const lease = bad.tryAcquire({ endpoint: "eu" }).lease;
      lease?.failed({ reason: "401", concerns: "endpoint" });
      for (let i = 0; i < 4; i++) {
        const decision = good.tryAcquire({ endpoint: "eu" });
        if (decision.reason === "unavailable") denials.push(second);
        decision.lease?.done();
        await hives.clock.run(250);
      }
    }
    expect(denials.length).toBeLessThanOrEqual(8);
    expect(bad.explain("eu").availability).toMatchObject({ state: "broken" });
    expect(good.explain("eu").availability).toMatchObject({ state: "available" });
  });
});

describe("calls that take long", () => {
  const send = (hive: Hive, calls: number): Lease[] =>
    Array.from({ length: calls }, () => {
      const { lease } = hive.tryAcquire({ endpoint: "eu" });
      if (!lease) throw new Error("the endpoint is not available");
      return lease;
    });
  const refuse = (lease: Lease): void => lease.refused({ reason: "529", kind: "overload" });

  test.each([
    [10, "available"],
    [3, "overloaded"],
  ] as const)("count as accepted when a later one is refused: of each %i one refused is %s", async (each, state) => {
    const hive = await hives.alone({ endpoints: [EU] });
    for (const [i, lease] of send(hive, 300).entries()) if (i % each === each - 1) refuse(lease);
    expect(hive.explain("eu").availability.state).toBe(state);
  });

  test("count once: answers that come later are no further evidence", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const leases = send(hive, 10);
    refuse(leases[9] as Lease);
    for (const lease of leases.slice(0, 9)) lease.done();
    for (const lease of send(hive, 5)) refuse(lease);
    expect(hive.explain("eu").availability.state).toBe("overloaded");
  });

  test("keep a circuit breaker closed when they are three times as old as the failures", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const slow = send(hive, 40);
    for (let i = 0; i < 10; i++) {
      await hives.clock.run(1_000);
      const [quick] = send(hive, 1) as [Lease];
      slow.push(...send(hive, 3));
      await hives.clock.run(20);
      quick.failed({ reason: "500" });
    }
    expect(hive.explain("eu").availability.state).toBe("available");
    for (const lease of slow) lease.failed({ reason: "500" });
    expect(hive.explain("eu").availability.state).toBe("broken");
  });

  test.each([
    ["overloaded", 20, 250],
    ["overloaded", 1_000, 3_000],
    ["broken", 20, 250],
    ["broken", 1_000, 3_000],
  ] as const)("end a state as probes: %s, refused in %i ms, after %i ms", async (state, refusalMs, acceptedMs) => {
    const hive = await hives.alone({ endpoints: [EU] });
    const refused = send(hive, 12);
    await hives.clock.run(refusalMs);
    for (const lease of refused) state === "broken" ? lease.failed({ reason: "500" }) : refuse(lease);
    expect(hive.explain("eu").availability.state).toBe(state);
    await hives.clock.run(1_000);
    const probe = await hive.acquire({ endpoint: "eu" });
    await hives.clock.run(acceptedMs - 1);
    expect(hive.explain("eu").availability).toMatchObject({ state, isProbing: true });
    await hives.clock.run(1);
    expect(hive.explain("eu").availability.state).toBe("available");
    probe.done();
  });

  test("do not end a spent quota as probes: only an answer does", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    (await hive.acquire({ endpoint: "eu" })).refused({ reason: "quota gone", kind: "quota" });
    await hives.clock.run(60_000);
    const probe = await hive.acquire({ endpoint: "eu" });
    await hives.clock.run(20_000);
    expect(hive.explain("eu").availability.state).toBe("parked");
    probe.done();
    expect(hive.explain("eu").availability.state).toBe("available");
  });
});

describe("a park over the bus", () => {
  test("without a secret is accepted for a window at a time, and renewed by the agent that parked", async () => {
    const [first, second] = (await hives.swarm(2, { endpoints: [EU] })) as [Hive, Hive];
    first.park("eu", { reason: "maintenance", forMs: 600_000 });
    for (let minute = 0; minute < 9; minute++) {
      await hives.clock.run(60_000);
      expect(second.explain("eu").availability).toMatchObject({ state: "parked", agentId: "hive-0" });
      expect(second.explain("eu").availability.retryAfterMs).toBeLessThanOrEqual(60_000);
    }
    await hives.clock.run(61_000);
    expect(second.explain("eu").availability.state).toBe("available");
  });

  test("without a secret ends within a window when the agent that parked is gone", async () => {
    const [first, second] = (await hives.swarm(2, { endpoints: [EU] })) as [Hive, Hive];
    first.park("eu", { reason: "maintenance" });
    await hives.clock.run(100);
    await Promise.all([first.close(), hives.clock.run(100)]);
    await hives.clock.run(61_000);
    expect(second.explain("eu").availability.state).toBe("available");
  });

  test("with a secret is accepted in full; agents that join later learn it; any agent may unpark", async () => {
    const secret = "0123456789abcdef";
    const [first, second] = (await hives.swarm(2, { endpoints: [EU], secret })) as [Hive, Hive];
    first.park("eu", { model: "big", reason: "maintenance", forMs: 600_000 });
    await hives.clock.run(120_000);
    const third = await hives.join({ endpoints: [EU], secret });
    await hives.clock.run(2_000);
    for (const hive of [second, third])
      expect(hive.explain("eu", "big").availability.retryAfterMs).toBeGreaterThan(470_000);
    third.unpark("eu");
    await hives.clock.run(1_000);
    for (const hive of [first, second]) expect(hive.explain("eu", "big").availability.state).toBe("available");
  });
});

describe("routing", () => {
  test("uses a later tier only while no endpoint of an earlier one is available with capacity", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "a", rpmLimit: 2 }, { id: "b", rpmLimit: 2 }, { id: "c" }] });
    const route = [["a", "b"], ["c"]];
    const used: string[] = [];
    for (let i = 0; i < 6; i++) {
      const lease = await hive.acquire({ route });
      used.push(lease.endpoint);
      lease.done();
    }
    expect(used.slice(0, 4).sort()).toEqual(["a", "a", "b", "b"]);
    expect(used.slice(4)).toEqual(["c", "c"]);
    await hives.clock.run(61_000);
    hive.park("a", { reason: "x" });
    expect((await hive.acquire({ route })).endpoint).toBe("b");
    hive.park("b", { reason: "x" });
    expect(hive.route({ candidates: route, tokens: 1 }).endpoint).toBe("c");
  });

  test("prefers the fastest, by the peak of its latencies", async () => {
    const hive = await hives.alone({ endpoints: [EU, US], strategy: "fastest" });
    const latency: Record<string, number> = { eu: 100, us: 400 };
    const call = async (): Promise<string> => {
      const lease = await hive.acquire({ route: ["eu", "us"] });
      await hives.clock.run(latency[lease.endpoint] ?? 0);
      lease.answered();
      lease.done();
      return lease.endpoint;
    };
    await call();
    await call();
    for (let i = 0; i < 5; i++) expect(await call()).toBe("eu");
    latency["eu"] = 2_000;
    expect(await call()).toBe("eu");
    expect(await call()).toBe("us");
  });

  test.each(["cancel", "refused", "failed"] as const)(
    "is not attracted by an endpoint whose calls end with %s",
    async (how) => {
      const hive = await hives.alone({
        endpoints: [
          { id: "eu", rpmLimit: 100 },
          { id: "us", rpmLimit: 100 },
        ],
      });
      let bad = 0;
      for (let i = 0; i < 40; i++) {
        const lease = await hive.acquire({ route: ["eu", "us"] });
        if (lease.endpoint === "us") lease.done();
        else {
          bad++;
          if (how === "cancel") lease.cancel();
          else if (how === "refused") lease.refused({ reason: "529", kind: "overload" });
          else lease.failed({ reason: "ECONNREFUSED", wasSent: false });
        }
        await hives.clock.run(100);
      }
      expect(bad).toBeLessThanOrEqual(20);
    },
  );
});
