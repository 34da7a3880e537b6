import { describe, expect, test } from "vitest";
import { eachTest } from "../support/each-test.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };
const US = { id: "us", rpmLimit: 10, tpmLimit: 1_000 };

describe("observing", () => {
  test("decides, never blocks, and reports the decisions it would have made", async () => {
    const hive = await world.hives.alone({ endpoints: [EU, US], mode: "observe" });
    const leases = [];
    for (let i = 0; i < 15; i++) leases.push(await hive.acquire({ endpoint: "eu", tokens: 10 }));
    await hive.acquire({ endpoint: "eu", tokens: 5_000 });
    leases[3]?.refused({ reason: "429" });
    leases[12]?.refused({ reason: "429" });
    leases[13]?.refused({ reason: "429" });
    expect(hive.status().observed).toEqual({
      decisions: 16,
      wouldHaveWaited: 5,
      wouldHaveBeenDenied: 1,
      refused: 3,
      wouldHaveBeenAvoided: 2,
    });
    await hive.acquire({ endpoint: "us", tokens: 10 });
    expect(hive.explain("us").observed).toMatchObject({ decisions: 1, wouldHaveWaited: 0, refused: 0 });
    expect(hive.explain("eu").observed).toMatchObject({ decisions: 16, wouldHaveWaited: 5, wouldHaveBeenAvoided: 2 });
    expect(hive.status().observed).toMatchObject({ decisions: 17 });
    const decision = hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    expect(decision).toMatchObject({ allowed: true, reason: "rate", limitedBy: "swarm-pause" });
    expect(decision.lease).toBeDefined();
    expect(hive.status().waiting).toBe(0);
  });
});
