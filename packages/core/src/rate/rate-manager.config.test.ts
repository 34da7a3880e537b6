import { describe, expect, test } from "vitest";
import { RateManager } from "./rate-manager.ts";
import { code, KINDS, thrown } from "./test-managers.ts";

describe.each(KINDS)("rate manager, %s: configuration", (_, open) => {
  test("loadConfig accepts the names of configuration files, replaces limits and keeps counts", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "old", rpmLimit: 1 });
    manager.setKey("gone", { rpmLimit: 0 });
    manager.setEndpoint({ id: "anthropic-primary", rpmLimit: 1 });
    manager.check({ endpoint: "anthropic-primary", tokens: 10 });
    manager.loadConfig({
      endpoints: [
        { id: "anthropic-primary", rpm_limit: 1000, tpm_limit: 100000 },
        { id: "eu", model: "m", rpmLimit: 5 },
        { id: "pool", models: ["a", "b"], max_in_flight_per_process: 3, output_tpm_limit: 7 },
      ],
      keys: { acme_inc: { rate_limit_rpm: 100, rate_limit_tpm: 50000 } },
    });
    expect(manager.check({ endpoint: "anthropic-primary", key: "acme_inc", tokens: 5 })).toMatchObject({
      currentRpm: 2,
      limitRpm: 1000,
      limitTpm: 100000,
    });
    expect(manager.snapshot().keys).toEqual([
      { id: "acme_inc", requests: 1, tokens: 5, rpmLimit: 100, tpmLimit: 50000 },
    ]);
    expect(manager.snapshot({ keys: false })).toEqual({ ...manager.snapshot(), keys: [] });
    expect(code(() => manager.check({ endpoint: "old", tokens: 1 }))).toBe("RESOURCE_UNKNOWN");
    expect(manager.check({ endpoint: "eu", model: "m", key: "gone", tokens: 1 })).toMatchObject({ limitRpm: 5 });
    expect(manager.check({ endpoint: "pool", model: "b", tokens: 8 })).toMatchObject({
      limitedBy: "endpoint-output-tpm",
    });
    // Limits of an absent part stay unchanged.
    manager.loadConfig({ keys: {} });
    expect(manager.peek({ endpoint: "eu", model: "m", tokens: 1 }).allowed).toBe(true);
    manager.loadConfig({ endpoints: [] });
    expect(manager.snapshot().endpoints).toEqual([]);
  });

  test("loadConfig changes nothing when any entry is invalid, and names its path", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    const before = manager.snapshot();
    const ok = { id: "us", rpm_limit: 1 };
    for (const [config, option, value] of [
      [{ endpoints: [ok, { ...ok, model: "m" }, { id: "x", rpm_limit: -1 }] }, "endpoints[2].rpm_limit", -1],
      [{ endpoints: [ok, { id: "us" }] }, "endpoints[1]", "us"],
      [
        {
          endpoints: [
            { id: "x", model: "a" },
            { id: "x", models: ["b", "a"] },
          ],
        },
        "endpoints[1]",
        "x a",
      ],
      [{ endpoints: [{ id: "x", tpm_limit: "many" }] }, "endpoints[0].tpm_limit", "many"],
      [{ endpoints: [{ id: "x", tpmLimit: Number.NaN }] }, "endpoints[0].tpmLimit", Number.NaN],
      [{ endpoints: [{ rpm_limit: 1 }] }, "endpoints[0].id", undefined],
      [{ endpoints: [{ id: "x", models: [] }] }, "endpoints[0].models", []],
      [{ endpoints: [{ id: "x", models: ["a", ""] }] }, "endpoints[0].models[1]", ""],
      // A store could not encode such a name, and its sync would fail for all names.
      [{ endpoints: [{ id: "x\ud800" }] }, "endpoints[0].id", "x\ud800"],
      [{ endpoints: [{ id: "x\0y" }] }, "endpoints[0].id", "x\0y"],
      [{ endpoints: {} }, "endpoints", {}],
      [{ endpoints: [ok], keys: { a: { rate_limit_rpm: -5 } } }, "keys.a.rate_limit_rpm", -5],
      [{ endpoints: [ok], keys: { a: 5 } }, "keys.a", 5],
      ["endpoints", "config", "endpoints"],
    ] as const) {
      const error = thrown(() => manager.loadConfig(config as never));
      expect(error).toMatchObject({ code: "INVALID_CONFIG", option, value });
      expect(manager.snapshot()).toEqual(before);
    }
  });

  test("a mistake in a call names the option, the rule and the value", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    for (const act of [
      () => manager.setEndpoint({ id: "", rpmLimit: 3 }),
      () => manager.setEndpoint({ id: "a\0b" }),
      () => manager.setEndpoint({ id: "x", rpmLimit: -1 }),
      () => manager.setEndpoint({ id: "x", model: "m", models: ["n"] }),
      () => manager.setKey("k", { rpmLimit: Number.NaN }),
      () => manager.check({ endpoint: "eu", tokens: -1 }),
      () => manager.check({ endpoint: "eu", tokens: Number.NaN }),
      () => manager.check({ endpoint: "eu", tokens: Infinity }),
      () => manager.settle(manager.check({ endpoint: "eu", tokens: 1 }), -1),
      () => new RateManager({ window: "other" as never }),
      () => new RateManager({ mockEndpointTpmThreshold: -1 }),
      () => new RateManager({ shared: {} as never }),
      () => new RateManager({ limitsForKey: 5 as never }),
    ])
      expect(code(act)).toBe("INVALID_CONFIG");
    expect(code(() => new RateManager({ windowMs: 0 }))).toBe("INVALID_WINDOW");
  });
});

test("a limit on the calls of all processes is refused, and the error names the option for one process", () => {
  const manager = new RateManager();
  expect(() => manager.setEndpoint({ id: "eu", maxInFlight: 2 } as never)).toThrow(/maxInFlightPerProcess/);
  expect(() => manager.loadConfig({ endpoints: [{ id: "eu", max_in_flight: 2 } as never] })).toThrow(
    /endpoints\[0\]\.max_in_flight must be an option that exists \(did you mean maxInFlightPerProcess\?\)/,
  );
});
