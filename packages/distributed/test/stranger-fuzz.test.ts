import { expect, test } from "vitest";
import { attack, isSlow, violationOf } from "./support/attack.ts";

test("no sequence of hostile messages makes a swarm exceed its limit, keeps it slow or fills its memory", async () => {
  for (let seed = 1; seed <= 36; seed++) {
    const attacked = await attack(seed);
    expect(violationOf(attacked), `seed ${seed}: ${JSON.stringify(attacked)}`).toBeUndefined();
    expect(isSlow(attacked), `seed ${seed}: ${JSON.stringify(attacked)}`).toBe(false);
  }
});
