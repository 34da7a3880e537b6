import type { Lease } from "@hivepace/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refusalByStatus, usageIn } from "../src/hive/run.ts";
import { TestHives, watch } from "./support/hives.ts";

const ENDPOINTS = [{ id: "eu", rpmLimit: 10, tpmLimit: 1_000 }];
const REQUEST = { endpoint: "eu", tokens: 100 } as const;
const USED_IN_EU = (used: number) => expect.objectContaining({ dimension: "tokens", used });

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

describe("hive.run", () => {
  test.each([
    ["OpenAI", { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }],
    ["Anthropic", { usage: { input_tokens: 10, output_tokens: 5 } }],
    ["Google", { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } }],
    ["AI SDK", { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }],
  ])("settles with the usage in a result as %s writes it", async (_, result) => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    expect(await hive.run(REQUEST, async () => result)).toBe(result);
    expect(hive.explain("eu").limits).toContainEqual(USED_IN_EU(15));
    expect(hive.status().leases).toBe(0);
  });

  test("settles with the usage that the work reports itself", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    await hive.run(REQUEST, (lease) => lease.done({ tokens: 7 }));
    expect(hive.explain("eu").limits).toContainEqual(USED_IN_EU(7));
  });

  test("keeps the estimate when neither the result nor the work reports the usage", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    await hive.run(REQUEST, () => "an answer");
    expect(hive.explain("eu").limits).toContainEqual(USED_IN_EU(100));
  });

  test("charges the estimate when the work fails, and passes the error on", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    const failure = new Error("the connection was reset");
    await expect(hive.run(REQUEST, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(hive.explain("eu")).toMatchObject({ level: 1, inFlight: 0 });
    expect(hive.explain("eu").limits).toContainEqual(USED_IN_EU(100));
  });

  test("a refusal slows all agents down and gives the estimate back", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    const failure = Object.assign(new Error("slow down"), { status: 429, headers: { "retry-after": "2" } });
    await expect(hive.run(REQUEST, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(hive.explain("eu")).toMatchObject({ level: 0.5, pausedForMs: 2_000 });
    expect(hive.explain("eu").limits).toContainEqual(USED_IN_EU(0));
  });

  test("refusalOf decides which errors are refusals; when it fails itself, none is", async () => {
    const seen: unknown[] = [];
    const refusalOf = (error: unknown) => {
      seen.push(error);
      if (error === "full") return { reason: "full" };
      throw new Error("a mistake in refusalOf");
    };
    const hive = await hives.alone({ endpoints: ENDPOINTS, refusalOf });
    await expect(hive.run(REQUEST, () => Promise.reject("other"))).rejects.toBe("other");
    expect(hive.explain("eu").level).toBe(1);
    await expect(hive.run(REQUEST, () => Promise.reject("full"))).rejects.toBe("full");
    expect(hive.explain("eu").level).toBe(0.5);
    expect(seen).toEqual(["other", "full"]);
  });

  test("renews the lease for as long as the work runs", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlight: 1 }], leaseMs: 1_000 });
    let end: (() => void) | undefined;
    const running = hive.run({ endpoint: "eu" }, () => new Promise<void>((resolve) => (end = resolve)));
    await hives.clock.run(10_000);
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(false);
    end?.();
    await running;
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
    await hives.clock.run(10_000);
  });

  test("does not start the work when the request cannot be sent", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    let isStarted = false;
    const work = () => {
      isStarted = true;
    };
    await expect(hive.run({ ...REQUEST, tokens: 5_000 }, work)).rejects.toMatchObject({ reason: "too-large" });
    await expect(hive.run(REQUEST, undefined as never)).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      option: "work",
    });
    expect(isStarted).toBe(false);
  });
});

describe("the refusal of an error", () => {
  test.each([
    [
      { status: 429, message: "limit" },
      { kind: "limit", reason: "429 limit", retryAfterMs: undefined },
    ],
    [
      { statusCode: 503, responseHeaders: { "retry-after": "3" } },
      { kind: "overload", retryAfterMs: 3_000 },
    ],
    [
      { status: 529, headers: new Headers({ "retry-after-ms": "250" }) },
      { kind: "overload", retryAfterMs: 250 },
    ],
    [{ response: { status: 429, headers: { "retry-after": "soon" } } }, { kind: "limit", retryAfterMs: undefined }],
    [{ $metadata: { httpStatusCode: 429 } }, { kind: "limit" }],
    [{ message: "wrapped", cause: { status: 429 } }, { kind: "limit" }],
  ])("%j is one", (error, refusal) => {
    expect(refusalByStatus(error)).toMatchObject(refusal);
  });

  test.each([[undefined], ["429"], [{ status: 500 }], [{ status: 500, cause: { status: 429 } }], [new Error("no")]])(
    "%j is none",
    (error) => {
      expect(refusalByStatus(error)).toBeUndefined();
    },
  );

  test("a cycle of causes ends", () => {
    const error: { cause?: unknown } = {};
    error.cause = error;
    expect(refusalByStatus(error)).toBeUndefined();
  });
});

test.each([
  [undefined],
  [null],
  ["text"],
  [{ usage: null }],
  [{ usage: { tokens: -1 } }],
  [{ usage: { tokens: "5" } }],
])("%j reports no usage", (result) => {
  expect(usageIn(result)).toBeUndefined();
});

describe("hive.ready", () => {
  test("resolves when the agent has joined the swarm", async () => {
    const hive = await hives.join({ endpoints: ENDPOINTS });
    let isReady = false;
    const ready = hive.ready().then(() => {
      isReady = true;
    });
    await hives.clock.run(200);
    expect(isReady).toBe(false);
    expect(hive.status().mode).toBe("joining");
    await hives.clock.run(2_000);
    expect(isReady).toBe(true);
    await ready;
    await hive.ready();
  });

  test("resolves at once for a hive without a bus", async () => {
    await (await hives.alone({ endpoints: ENDPOINTS })).ready();
  });

  test("rejects with the signal's reason, or when the hive is closed", async () => {
    const hive = await hives.join({ endpoints: ENDPOINTS });
    const abort = new AbortController();
    const given = hive.ready({ signal: abort.signal });
    abort.abort("enough");
    await expect(given).rejects.toBe("enough");
    await expect(hive.ready({ signal: abort.signal })).rejects.toBe("enough");
    const left = expect(hive.ready()).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    await hives.close();
    await left;
    await expect(hive.ready()).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
  });
});

describe("hive.pause", () => {
  test("grants nothing until resume, and then serves waiters in order", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    hive.pause();
    expect(hive.isPaused).toBe(true);
    expect(hive.tryAcquire(REQUEST)).toMatchObject({ allowed: false, limitedBy: "paused", retryAfterMs: undefined });
    const waits = [watch(hive.acquire(REQUEST)), watch(hive.acquire(REQUEST))];
    const late = watch(hive.acquire({ ...REQUEST, timeoutMs: 1_000 }));
    await hives.clock.run(120_000);
    expect(waits.map(({ lease }) => lease)).toEqual([undefined, undefined]);
    expect(late.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "timeout" });
    expect(hive.explain("eu").text).toContain("sends nothing until resume() is called");
    hive.resume();
    await hives.clock.run(1);
    expect(waits.map(({ lease }) => lease?.endpoint)).toEqual(["eu", "eu"]);
    expect(hive.tryAcquire(REQUEST).allowed).toBe(true);
  });

  test("is named before a closed endpoint, whose end would not let the call pass", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    hive.park("eu", { forMs: 60_000, reason: "maintenance" });
    hive.pause();
    expect(hive.tryAcquire(REQUEST)).toMatchObject({ allowed: false, limitedBy: "paused", retryAfterMs: undefined });
    expect(hive.explain("eu")).toMatchObject({ limitedBy: "paused", freesInMs: Infinity });
    hive.resume();
    expect(hive.tryAcquire(REQUEST)).toMatchObject({ limitedBy: "unavailable", retryAfterMs: 60_000 });
  });

  test("leaves the whole limit to the other agents meanwhile", async () => {
    const [paused, other] = (await hives.swarm(2, { endpoints: [{ id: "eu", rpmLimit: 100 }] })) as [
      Awaited<ReturnType<typeof hives.alone>>,
      Awaited<ReturnType<typeof hives.alone>>,
    ];
    paused.pause();
    for (let i = 0; i < 100; i++) watch(paused.acquire({ endpoint: "eu" }));
    let sent = 0;
    for (let i = 0; i < 120; i++)
      void other.acquire({ endpoint: "eu" }).then(
        () => sent++,
        () => {},
      );
    await hives.clock.run(30_000);
    expect(sent).toBeGreaterThanOrEqual(97);
  });
});

describe("endpoints", () => {
  test("are added and removed one by one", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    hive.addEndpoint({ id: "us", rpmLimit: 1 });
    const lease = hive.tryAcquire({ endpoint: "us" }).lease as Lease;
    expect(hive.tryAcquire({ endpoint: "us" }).allowed).toBe(false);
    hive.addEndpoint({ id: "us", rpmLimit: 2 });
    expect(hive.tryAcquire({ endpoint: "us" }).allowed).toBe(true);
    const waiting = watch(hive.acquire({ endpoint: "us" }));
    await hives.clock.run(1);
    expect(hive.removeEndpoint("us")).toBe(true);
    await hives.clock.run(1);
    expect(waiting.error).toMatchObject({ code: "RESOURCE_UNKNOWN" });
    lease.done();
    expect(hive.removeEndpoint("us")).toBe(false);
    expect(hive.explain("eu").limits).toContainEqual(USED_IN_EU(0));
  });

  test("with a mistake change nothing", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    expect(() => hive.addEndpoint({ id: "us", rpmLimit: -1 })).toThrow("endpoint.rpmLimit must be");
    expect(() => hive.addEndpoint({ id: "us", rpm: 1 } as never)).toThrow("endpoint.rpm must be");
    expect(() => hive.addEndpoint({ id: "us", maxInFlight: -1 })).toThrow("endpoint.maxInFlight must be");
    expect(() => hive.addEndpoint({ id: "u".repeat(500) })).toThrow("endpoint must be");
    expect(() => hive.tryAcquire({ endpoint: "us" })).toThrow("unknown endpoint");
  });
});

describe("unknown options", () => {
  test.each([
    [{ endpoints: [{ id: "eu", rpm: 60 }] }, "endpoints[0].rpm must be an option that exists (did you mean rpmLimit?)"],
    [{ endpoints: [], keys: { acme: { rpmLimits: 1 } } }, "keys.acme.rpmLimits must be an option that exists"],
    [{ endpoints: [], heartbeat: 1 }, "heartbeat must be an option that exists (did you mean heartbeatIntervalMs?)"],
    [{ endpoint: [] }, "endpoint must be an option that exists (did you mean endpoints?)"],
  ])("of a hive are rejected at construction: %j", async (options, message) => {
    await expect(hives.alone(options as never)).rejects.toThrow(message);
  });

  test("of a request are rejected", async () => {
    const hive = await hives.alone({ endpoints: ENDPOINTS });
    expect(() => hive.tryAcquire({ endpoint: "eu", token: 5 } as never)).toThrow("(did you mean tokens?)");
    await expect(hive.acquire({ endpoint: "eu", tokens: 5, timeout: 5 } as never)).rejects.toThrow("timeoutMs");
  });

  test("of a configuration file count as well: rate_limit_rpm is rpmLimit", async () => {
    const keys = { acme: { rate_limit_rpm: 1 } } as never;
    const [first, second] = await hives.swarm(2, { endpoints: ENDPOINTS, keys });
    const sent = [first, second, first, second].map((hive) => hive?.tryAcquire({ ...REQUEST, key: "acme" }).allowed);
    expect(sent.filter(Boolean).length).toBeLessThanOrEqual(1);
    await hives.clock.run(2_000);
    expect(first?.tryAcquire({ ...REQUEST, key: "acme" }).limitedBy).toBe("key-rpm");
  });
});
