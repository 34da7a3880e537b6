import { expect, test } from "vitest";
import { hear } from "./support/hear-noise.ts";

test("malformed messages change nothing, throw nothing, and each is counted", async () => {
  const seed = 20_260_101;
  const { before, after, ignored } = await hear(20_000, seed);
  expect(after, `seed ${seed}`).toEqual(before);
  expect(ignored, `seed ${seed}`).toBe(20_000);
});
