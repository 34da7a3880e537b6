import { describe, expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { RateManager } from "./rate-manager.ts";

const SECOND = 1_000;

function manager(isShared: boolean) {
  const clock = new ManualClock({ now: 5_000, epochMs: Date.UTC(2030, 0, 1) + 1_234 });
  const made = new RateManager({ windowMs: SECOND, clock });
  if (isShared) made.share({ maxIds: 20 });
  return { clock, made };
}

describe.each([
  ["one thread", false],
  ["several threads", true],
])("a manager of %s", (_, isShared) => {
  test("lowering a limit below one per window neither denies nor counts a request by itself", () => {
    const { clock, made } = manager(isShared);
    made.setEndpoint({ id: "eu", rpmLimit: 2, maxInFlightPerProcess: 0 });
    made.check({ endpoint: "eu", tokens: 90 });
    made.setEndpoint({ id: "eu", rpmLimit: 2, tpmLimit: 0.25 });
    clock.advance(900);
    expect(made.peek({ endpoint: "eu", tokens: 0 }).allowed).toBe(true);
    expect(made.check({ endpoint: "eu", tokens: 0 })).toMatchObject({ allowed: true, currentRpm: 1 });
  });

  test("usage stays counted when a limit below one per window becomes a whole number", () => {
    const { clock, made } = manager(isShared);
    made.setEndpoint({ id: "eu", rpmLimit: 0.25 });
    clock.advance(SECOND);
    expect(made.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(true);
    made.setEndpoint({ id: "eu", rpmLimit: 1 });
    expect(made.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(false);
    clock.advance(SECOND);
    expect(made.check({ endpoint: "eu", tokens: 0 }).allowed).toBe(true);
  });

  test("a record that is given to another id starts empty, however many windows it is counted over", () => {
    const { clock, made } = manager(isShared);
    made.setEndpoint({ id: "us", rpmLimit: 30 });
    made.check({ endpoint: "us", tokens: 90 });
    made.removeEndpoint("us");
    clock.advance(2 * SECOND);
    made.setEndpoint({ id: "eu", rpmLimit: 1, tpmLimit: 0.25 });
    expect(made.snapshot().endpoints).toMatchObject([{ id: "eu", requests: 0, tokens: 0 }]);
  });

  test("a removed model and a pool from which no model draws leave no records behind", () => {
    const { made } = manager(isShared);
    made.setEndpoint({ id: "us", model: "large", outputTpmLimit: 50 });
    made.setEndpoint({ id: "eu", models: ["large", "small"], inputTpmLimit: 50 });
    made.loadConfig({ endpoints: [] });
    expect([made.removeEndpoint("us"), made.removeEndpoint("eu")]).toEqual([false, false]);
    for (let i = 0; i < 8; i++) made.setEndpoint({ id: "eu", models: [`model-${i}`] });
    for (let i = 0; i < 8; i++) expect(made.removeEndpoint("eu", `model-${i}`)).toBe(true);
    expect(made.removeEndpoint("eu")).toBe(false);
  });
});
