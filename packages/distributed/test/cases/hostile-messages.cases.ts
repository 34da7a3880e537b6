import assert from "node:assert/strict";
import type { Case } from "@hivepace/verify";
import { attack, isSlow, violationOf } from "../support/attack.ts";

/** Thousands of attacks of a stranger on a swarm under load, each with messages of its own and at a rate of its own. */
const PARTS = 20;
const ATTACKS = 100;
export const cases: readonly Case[] = Array.from({ length: PARTS }, (_, i) => ({
  id: `hostile-messages/seeds-${i * ATTACKS + 1}`,
  seconds: 30,
  run: () => attacks(i * ATTACKS + 1),
}));

async function attacks(first: number) {
  let messages = 0;
  for (let seed = first; seed < first + ATTACKS; seed++) {
    const attacked = await attack(seed);
    messages += attacked.messages;
    assert.equal(violationOf(attacked), undefined, `seed ${seed}: ${JSON.stringify(attacked)}`);
    assert.equal(isSlow(attacked), false, `seed ${seed} has not healed: ${JSON.stringify(attacked)}`);
  }
  return { summary: `${ATTACKS} attacks, ${messages} messages`, figures: { messages } };
}
