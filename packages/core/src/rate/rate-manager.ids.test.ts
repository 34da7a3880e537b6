import { describe, expect, test } from "vitest";
import { code, KINDS, MINUTE } from "./test-managers.ts";

describe.each(KINDS)("rate manager, %s: ids and models", (_, open) => {
  test("a key that was never set has no limit of its own", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 2 });
    expect(manager.check({ endpoint: "eu", key: "anyone", tokens: 1 }).allowed).toBe(true);
    expect(manager.snapshot().keys).toEqual([]);
    const handle = manager.handle({ endpoint: "eu", key: "anyone" });
    manager.setKey("anyone", { rpmLimit: 0 });
    expect(handle.check(1).limitedBy).toBe("key-rpm");
    expect(manager.removeKey("anyone")).toBe(true);
    expect(manager.removeKey("anyone")).toBe(false);
    expect(handle.check(1).allowed).toBe(true);
  });

  test("a handle decides as check does, also after its ids are removed and set again", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    manager.setKey("acme", { tpmLimit: 100 });
    const handle = manager.handle({ endpoint: "eu", key: "acme" });
    expect(handle.check(60)).toMatchObject({ allowed: true, currentRpm: 1 });
    expect(handle.check(60).limitedBy).toBe("key-tpm");
    manager.removeEndpoint("eu");
    expect(code(() => handle.check(1))).toBe("RESOURCE_UNKNOWN");
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    expect(handle.check(1)).toMatchObject({ allowed: true, currentRpm: 2 });
  });

  test("an id that is removed and set again in one window keeps its counts", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    manager.setKey("acme", { rpmLimit: 3 });
    manager.check({ endpoint: "eu", key: "acme", tokens: 1 });
    manager.removeKey("acme");
    manager.removeEndpoint("eu");
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    manager.setKey("acme", { rpmLimit: 3 });
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({ currentRpm: 2 });
    clock.advance(MINUTE);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({ currentRpm: 1 });
  });

  test("models have their own limits, share the endpoint's or draw from a pool", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", model: "big", rpmLimit: 1 });
    manager.setEndpoint({ id: "eu", models: ["a", "b"], rpmLimit: 3, inputTpmLimit: 100 });
    expect(code(() => manager.check({ endpoint: "eu", tokens: 1 }))).toBe("RESOURCE_UNKNOWN");
    manager.setEndpoint({ id: "eu", rpmLimit: 2 });
    const ask = (model?: string) => manager.check({ endpoint: "eu", model, tokens: 1 }).allowed;
    expect([ask("big"), ask("big")]).toEqual([true, false]);
    expect([ask("a"), ask("b"), ask("a"), ask("b")]).toEqual([true, true, true, false]);
    expect([ask(), ask("other"), ask("another")]).toEqual([true, true, false]);
    expect(
      manager.snapshot().endpoints.map(({ id, model, models, requests }) => [id, model, models, requests]),
    ).toEqual(
      expect.arrayContaining([
        ["eu", "big", undefined, 1],
        ["eu", expect.any(String), expect.arrayContaining(["a", "b"]), 3],
        ["eu", undefined, undefined, 2],
      ]),
    );
    manager.removeEndpoint("eu", "a");
    expect(manager.check({ endpoint: "eu", model: "b", tokens: 1 })).toMatchObject({ limitRpm: 3, allowed: false });
    manager.setEndpoint({ id: "eu", models: ["b", "c"], rpmLimit: 4 });
    expect([ask("c"), ask("b")]).toEqual([true, false]);
    manager.removeEndpoint("eu");
    expect(manager.snapshot().endpoints).toEqual([]);
    expect(code(() => ask("b"))).toBe("RESOURCE_UNKNOWN");
  });

  test("input and output tokens have limits of their own", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 1000, inputTpmLimit: 100, outputTpmLimit: 50 });
    const ask = (inputTokens?: number, outputTokens?: number, tokens = 60) =>
      manager.check({ endpoint: "eu", tokens, inputTokens, outputTokens });
    expect(ask(40, 20).allowed).toBe(true);
    expect(ask(10, 40)).toMatchObject({
      limitedBy: "endpoint-output-tpm",
      currentTpm: 20,
      limitTpm: 50,
      currentRpm: 1,
    });
    expect(ask(70, 1)).toMatchObject({ limitedBy: "endpoint-input-tpm", currentTpm: 40, limitTpm: 100 });
    expect(ask(1, 51)).toMatchObject({ limitedBy: "endpoint-output-tpm", reason: "too-large" });
    // Token parts that are not given may be all of the tokens.
    expect(ask(undefined, 0).allowed).toBe(true);
    expect(ask(undefined, undefined, 1).limitedBy).toBe("endpoint-input-tpm");
    expect(manager.snapshot().endpoints).toMatchObject([{ inputTokens: 100, outputTokens: 20, inputTpmLimit: 100 }]);
  });

  test("keys are created on demand and forgotten when they are idle", () => {
    let made = 0;
    const { manager, clock } = open({
      limitsForKey: (key) => {
        made++;
        return key.startsWith("free") ? { rpmLimit: 2 } : undefined;
      },
    });
    manager.setEndpoint({ id: "eu" });
    manager.setKey("set", { rpmLimit: 2 });
    const ask = (key: string) => manager.check({ endpoint: "eu", key, tokens: 1 }).allowed;
    for (let minute = 0; minute < 100; minute++) {
      for (let i = 0; i < 20; i++) {
        const key = `free-${minute}-${i}`;
        expect([ask(key), ask(key), ask(key)]).toEqual([true, true, false]);
      }
      expect([ask("set"), ask("set"), ask("set")]).toEqual([true, true, false]);
      clock.advance(MINUTE);
    }
    expect(made).toBe(2000);
    expect(ask("paid")).toBe(true);
  });
});
