import { RateManager } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import type { OthersUsage } from "../global-view/view-types.ts";
import { createRouter, RoomRouter } from "./router.ts";
import type { RouterOptions } from "./router-types.ts";

const MINUTE = 60_000;

/** A router over two endpoints of ten requests and a thousand tokens each, and the usage of other instances. */
function world(options: Partial<RouterOptions> = {}) {
  const clock = new ManualClock();
  const manager = new RateManager({ clock });
  for (const id of ["eu", "us", "asia"]) manager.setEndpoint({ id, rpmLimit: 10, tpmLimit: 1_000 });
  const others = new Map<string, OthersUsage>();
  const view = { others: (endpoint: string) => others.get(endpoint) };
  const router = createRouter({ manager, view, clock, ...options });
  const use = (endpoint: string, times: number, tokens = 1) => {
    for (let i = 0; i < times; i++) manager.check({ endpoint, tokens });
  };
  const route = (request = {}) => router.route({ candidates: ["eu", "us"], tokens: 10, ...request });
  return { clock, manager, others, router, use, route };
}

test("the least used endpoint is chosen, by the usage of all instances", () => {
  const { route, use, others } = world();
  use("eu", 3);
  expect(route()).toMatchObject({ endpoint: "us", allowed: true, passedOver: [], retryAfterMs: undefined });
  others.set("us", { requests: 5, tokens: 5, remainingMs: 1_000 });
  expect(route()).toMatchObject({ endpoint: "eu", utilization: 0.3, reason: "the least used, 30 % used" });
  others.set("eu", { requests: 0, tokens: 900, remainingMs: 1_000 });
  expect(route()).toMatchObject({ endpoint: "us", utilization: 0.5 });
});

test("routing counts nothing", () => {
  const { route, manager } = world();
  const before = manager.snapshot();
  for (let i = 0; i < 100; i++) route({ session: "s" });
  expect(manager.snapshot()).toEqual(before);
});

test("an endpoint without capacity here is passed over, with the limit and the numbers", () => {
  const { route, use } = world();
  use("eu", 10);
  const decision = route({ session: sessionFor("eu") });
  expect(decision).toMatchObject({ endpoint: "us", allowed: true });
  expect(decision.passedOver).toEqual([
    {
      endpoint: "eu",
      by: "local",
      why: "endpoint-rpm (rate), 10 of 10 used",
      retryAfterMs: MINUTE,
      isNever: false,
    },
  ]);
});

test.each([
  [{ requests: 10, tokens: 0 }, "all instances: 10 of 10 requests"],
  [{ requests: 0, tokens: 991 }, "all instances: 991 of 1000 tokens"],
])("an endpoint that others have filled is passed over: %j", (usage, why) => {
  const { route, others } = world();
  others.set("eu", { ...usage, remainingMs: 12_345.6 });
  expect(route({ session: sessionFor("eu") })).toMatchObject({
    endpoint: "us",
    passedOver: [{ endpoint: "eu", by: "global", why, retryAfterMs: 12_346, isNever: false }],
  });
  // A request that just fits has capacity.
  others.set("eu", { requests: Math.min(usage.requests, 9), tokens: Math.min(usage.tokens, 990), remainingMs: 1 });
  expect(route({ session: sessionFor("eu") })).toMatchObject({ endpoint: "eu", passedOver: [] });
});

test("a session stays on its endpoint while that has capacity, whatever the strategy, and returns to it", () => {
  const { route, use, clock } = world({ strategy: "round-robin" });
  const session = sessionFor("eu");
  use("eu", 9);
  for (let i = 0; i < 5; i++)
    expect(route({ session })).toMatchObject({ endpoint: "eu", reason: expect.stringContaining("session") });
  use("eu", 1);
  for (let i = 0; i < 5; i++)
    expect(route({ session })).toMatchObject({
      endpoint: "us",
      reason: "the session's own endpoint has no room, this is its next, 0 % used",
    });
  // A full endpoint other than the session's own does not move the session.
  clock.advance(MINUTE);
  use("us", 10);
  expect(route({ session })).toMatchObject({ endpoint: "eu", reason: "the session's endpoint has room, 0 % used" });
});

test("an endpoint that answered 429 is avoided for the requested time", () => {
  const { route, router, clock } = world();
  const session = sessionFor("eu");
  router.refused("eu", { retryAfterMs: 3_000 });
  expect(route({ session })).toMatchObject({
    endpoint: "us",
    passedOver: [{ endpoint: "eu", by: "refused", retryAfterMs: 3_000 }],
  });
  clock.advance(2_999);
  expect(route({ session }).endpoint).toBe("us");
  clock.advance(1);
  expect(route({ session }).endpoint).toBe("eu");
  // Without a requested wait the default of one second applies.
  router.refused("eu");
  clock.advance(999);
  expect(route({ session }).endpoint).toBe("us");
  clock.advance(1);
  expect(route({ session }).endpoint).toBe("eu");
});

test("a 429 of one model does not affect the others", () => {
  const { route, router, manager } = world();
  manager.setEndpoint({ id: "eu", model: "small", rpmLimit: 10 });
  router.refused("eu", { model: "small", retryAfterMs: 1_000 });
  const only = { candidates: ["eu"] };
  expect(route({ ...only, model: "small" }).allowed).toBe(false);
  expect(route({ ...only, model: "large" }).allowed).toBe(true);
  expect(route(only).allowed).toBe(true);
});

test("when all endpoints are full, the one that frees first is named, with its wait", () => {
  const { route, router, use, others } = world();
  use("eu", 10);
  others.set("us", { requests: 10, tokens: 0, remainingMs: 20_000 });
  router.refused("asia", { retryAfterMs: 5_000 });
  const all = { candidates: ["eu", "us", "asia"] };
  expect(route(all)).toMatchObject({ endpoint: "asia", allowed: false, retryAfterMs: 5_000, utilization: 1 });
  expect(route(all).passedOver.map(({ by }) => by)).toEqual(["local", "global", "refused"]);
  router.refused("asia", { retryAfterMs: 50_000 });
  expect(route(all)).toMatchObject({ endpoint: "us", allowed: false, retryAfterMs: 20_000 });
  expect(route(all).reason).toBe(
    "no candidate has room; this one frees first, in 20000 ms: all instances: 10 of 10 requests",
  );
});

test("an endpoint that is refused and full frees when both have ended", () => {
  const { route, router, use, others, manager } = world();
  use("eu", 10);
  others.set("us", { requests: 10, tokens: 0, remainingMs: 20_000 });
  manager.setEndpoint({ id: "asia", maxInFlightPerProcess: 1 });
  use("asia", 1);
  for (const endpoint of ["eu", "us", "asia"]) router.refused(endpoint, { retryAfterMs: 5_000 });
  const waits = () => route({ candidates: ["eu", "us", "asia"] }).passedOver.map(({ retryAfterMs }) => retryAfterMs);
  // Time alone does not free an endpoint that waits for other calls to end.
  expect(waits()).toEqual([MINUTE, 20_000, undefined]);
  expect(route({ candidates: ["eu", "us", "asia"] })).toMatchObject({ endpoint: "us", retryAfterMs: 20_000 });
  for (const endpoint of ["eu", "us"]) router.refused(endpoint, { retryAfterMs: 70_000 });
  expect(waits()).toEqual([70_000, 70_000, undefined]);
  expect(route({ candidates: ["eu"], tokens: 2_000 })).toMatchObject({
    retryAfterMs: undefined,
    passedOver: [{ by: "refused", isNever: true }],
  });
});

test("a request that no window can hold is never worth a wait, one behind others is", () => {
  const { route, manager } = world();
  manager.setEndpoint({ id: "us", maxInFlightPerProcess: 1 });
  manager.check({ endpoint: "us", tokens: 1 });
  expect(route({ tokens: 2_000 })).toMatchObject({ endpoint: "us", allowed: false, retryAfterMs: undefined });
  expect(route({ tokens: 2_000 }).passedOver.map(({ isNever }) => isNever)).toEqual([true, false]);
  expect(route({ candidates: ["eu"], tokens: 2_000 })).toMatchObject({
    allowed: false,
    retryAfterMs: undefined,
    reason: expect.stringContaining("waiting does not help"),
  });
});

test("an exhausted key has no capacity at any endpoint", () => {
  const { route, manager } = world();
  manager.setKey("acme", { rpmLimit: 0 });
  expect(route({ key: "acme" })).toMatchObject({ allowed: false, passedOver: [{ by: "local" }, { by: "local" }] });
  expect(route({ key: "other" }).allowed).toBe(true);
});

test("strategies can be chosen: round robin, and by weight", () => {
  const { route } = world({ weights: { eu: 3 } });
  const times = (strategy: string) => {
    const taken = Array.from({ length: 400 }, () => route({ strategy }).endpoint);
    return taken.filter((endpoint) => endpoint === "eu").length;
  };
  expect(times("round-robin")).toBe(200);
  expect(Math.abs(times("weighted") - 300)).toBeLessThanOrEqual(4);
});

test("equal endpoints alternate, so that a herd spreads; sessions do not advance the rotation", () => {
  const { route } = world();
  const turns = Array.from({ length: 4 }, () => {
    route({ session: "s" });
    return route().endpoint;
  });
  expect(turns).toEqual(["eu", "us", "eu", "us"]);
  expect(Array.from({ length: 4 }, () => route().endpoint)).toEqual(["eu", "us", "eu", "us"]);
});

test("unlimited endpoints always have capacity, and an unknown one is an error", () => {
  const { route, manager, others } = world();
  manager.setEndpoint({ id: "mock" });
  others.set("mock", { requests: 1e9, tokens: 1e12, remainingMs: 1 });
  expect(route({ candidates: ["mock"] })).toMatchObject({ allowed: true, utilization: 0 });
  expect(() => route({ candidates: ["nobody"] })).toThrow(expect.objectContaining({ code: "RESOURCE_UNKNOWN" }));
});

test.each([
  ["manager", () => createRouter({} as RouterOptions)],
  ["view", () => world({ view: {} as never })],
  ["strategy", () => world({ strategy: "best" as never })],
  ["weights.eu", () => world({ weights: { eu: -1 } })],
  ["refusedForMs", () => world({ refusedForMs: 0 })],
  ["candidates", () => world().route({ candidates: [] })],
  ["strategy", () => world().route({ strategy: "best" })],
  ["retryAfterMs", () => world().router.refused("eu", { retryAfterMs: Number.NaN })],
])("an invalid %s is refused by name", (option, act) => {
  expect(act).toThrow(expect.objectContaining({ code: "INVALID_CONFIG", option }));
});

/** Returns a session whose affinity is this endpoint. */
function sessionFor(endpoint: string): string {
  const { route } = world();
  for (let i = 0; ; i++) if (route({ session: `s${i}` }).endpoint === endpoint) return `s${i}`;
}

test("the order of a route is that in which it would choose candidates that are denied one after the other", () => {
  const { manager, clock, use, others, router } = world();
  const ranked = new RoomRouter({ manager, clock, view: { others: (endpoint) => others.get(endpoint) } });
  use("eu", 4);
  use("us", 2);
  others.set("asia", { requests: 10, tokens: 0, remainingMs: 5_000 });
  const orderOf = (...tiers: string[][]) => [...ranked.inOrder(tiers, { tokens: 10 })].map(({ endpoint }) => endpoint);
  expect(orderOf(["eu", "us", "asia"])).toEqual(["us", "eu", "asia"]);
  expect(orderOf(["eu"], ["asia", "us"])).toEqual(["eu", "us", "asia"]);
  use("eu", 6);
  expect(orderOf(["eu", "us"], ["asia"])).toEqual(["us", "asia", "eu"]);
  expect(orderOf(["eu", "us", "asia"])[0]).toBe(
    router.route({ candidates: ["eu", "us", "asia"], tokens: 10 }).endpoint,
  );
});
