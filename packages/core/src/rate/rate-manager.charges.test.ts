import { describe, expect, test } from "vitest";
import { code, KINDS, MINUTE } from "./test-managers.ts";

describe.each(KINDS)("rate manager, %s: charges", (_, open) => {
  test("requests in flight are counted until they are settled or cancelled, also after their window", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", maxInFlightPerProcess: 2, rpmLimit: 100 });
    const ask = () => manager.check({ endpoint: "eu", tokens: 1 });
    const [first, second] = [ask(), ask()];
    expect(ask()).toMatchObject({
      limitedBy: "endpoint-in-flight",
      reason: "in-flight",
      retryAfterMs: undefined,
      utilization: 1,
    });
    clock.advance(10 * MINUTE);
    expect(ask().allowed).toBe(false);
    manager.settle(first, 5);
    manager.settle(first, 5);
    expect(ask().allowed).toBe(true);
    expect(ask().allowed).toBe(false);
    manager.cancel(second);
    manager.cancel(second);
    expect(manager.snapshot().endpoints).toMatchObject([{ inFlight: 1, maxInFlightPerProcess: 2, requests: 1 }]);
    // Requests that a dead thread left in flight vanish when the endpoint is removed and set again.
    manager.removeEndpoint("eu");
    manager.setEndpoint({ id: "eu", maxInFlightPerProcess: 2 });
    expect(manager.snapshot().endpoints).toMatchObject([{ inFlight: 0 }]);
  });

  test("settle corrects the estimate, up or down, once", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 100, inputTpmLimit: 90 });
    manager.setKey("acme", { tpmLimit: 200 });
    const first = manager.check({ endpoint: "eu", key: "acme", tokens: 80, inputTokens: 60 });
    manager.settle(first, 30, { inputTokens: 20, outputTokens: 10 });
    manager.settle(first, 0);
    manager.cancel(first);
    expect(manager.snapshot()).toMatchObject({
      endpoints: [{ tokens: 30, requests: 1, inputTokens: 20, outputTokens: 10 }],
      keys: [{ tokens: 30, requests: 1 }],
    });
    const second = manager.check({ endpoint: "eu", key: "acme", tokens: 10 });
    manager.settle(second, 500);
    expect(manager.snapshot()).toMatchObject({ endpoints: [{ tokens: 530 }], keys: [{ tokens: 530 }] });
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({ allowed: false, utilization: 1 });
  });

  test("cancel refunds the whole charge, once", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 100, outputTpmLimit: 50 });
    manager.setKey("acme", { tpmLimit: 200 });
    const kept = manager.check({ endpoint: "eu", key: "acme", tokens: 7 });
    const decision = manager.check({ endpoint: "eu", key: "acme", tokens: 30 });
    for (let i = 0; i < 3; i++) manager.cancel(decision);
    manager.settle(decision, 90);
    expect(manager.snapshot()).toMatchObject({
      endpoints: [{ tokens: 7, requests: 1, outputTokens: 7 }],
      keys: [{ tokens: 7, requests: 1 }],
    });
    expect(kept.allowed).toBe(true);
  });

  test.each(["fixed", "sliding"] as const)("settle and cancel leave other %s windows alone", (window) => {
    const { manager, clock } = open({ window });
    manager.setEndpoint({ id: "eu", tpmLimit: 1000 });
    const [a, b] = [manager.check({ endpoint: "eu", tokens: 100 }), manager.check({ endpoint: "eu", tokens: 100 })];
    clock.advance(MINUTE);
    const before = manager.peek({ endpoint: "eu", tokens: 1 });
    manager.settle(a, 900);
    manager.cancel(b);
    expect(manager.peek({ endpoint: "eu", tokens: 1 })).toEqual(before);
    clock.advance(255 * MINUTE);
    manager.check({ endpoint: "eu", tokens: 50 });
    manager.settle(a, 900);
    expect(manager.snapshot().endpoints).toMatchObject([{ tokens: 50 }]);
  });

  test("a denied or peeked decision has no charge to settle; a copy or another manager's decision is refused", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 100 });
    const decision = manager.check({ endpoint: "eu", tokens: 100 });
    manager.settle(manager.check({ endpoint: "eu", tokens: 1 }), 50);
    manager.cancel(manager.peek({ endpoint: "eu", tokens: 1 }));
    expect(manager.snapshot().endpoints).toMatchObject([{ tokens: 100 }]);
    expect(code(() => manager.cancel({ ...decision }))).toBe("INVALID_CONFIG");
    expect(code(() => open().manager.cancel(decision))).toBe("INVALID_CONFIG");
    manager.cancel(decision);
    expect(manager.snapshot().endpoints).toMatchObject([{ tokens: 0 }]);
  });
});
