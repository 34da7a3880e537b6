import { test } from "vitest";
import { hammer } from "./rate-hammer.ts";

test.each([
  [2, 1, 3000],
  [2, 5, 1000],
  [4, 1, 3000],
  [4, 3, 1000],
])("%d threads request one id over windows of %d ms, %d of them, and each grants exactly its limit", hammer);
