import assert from "node:assert/strict";
import type { Case } from "@hivepace/verify";
import { hear } from "../support/hear-noise.ts";

/** One million malformed messages, in slices: an agent ignores and counts each one, and keeps none of its contents. */
const PARTS = 10;
const MESSAGES = 100_000;
/** Heap growth that the runtime itself may cause, in megabytes. Retained messages would take hundreds. */
const MOST_MB = 20;

export const cases: readonly Case[] = Array.from({ length: PARTS }, (_, i) => ({
  id: `malformed-messages/seed-${i + 1}`,
  seconds: 8,
  run: () => flood(MESSAGES, i + 1),
}));

async function flood(messages: number, seed: number) {
  const heapBefore = heapMb();
  const { before, after, ignored } = await hear(messages, seed);
  const grownMb = heapMb() - heapBefore;
  assert.deepEqual(after, before, `a malformed message changed what the agent knows (seed ${seed})`);
  assert.equal(ignored, messages, `every malformed message is counted as ignored (seed ${seed})`);
  assert.ok(grownMb < MOST_MB, `the heap has grown by ${grownMb.toFixed(1)} MB, ${MOST_MB} are allowed (seed ${seed})`);
  return { summary: `${messages} ignored, heap ${grownMb.toFixed(1)} MB larger`, figures: { grownMb } };
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}
