import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/**
 * Replaces the random part of incarnations with a counter of starts, so that a seed always gives the same run. Returns
 * a function that restores the original.
 */
export function seededIncarnations(): () => void {
  const { randomInt } = crypto;
  let next = 0;
  crypto.randomInt = (() => next++ % 1_000) as typeof randomInt;
  syncBuiltinESMExports();
  return () => {
    crypto.randomInt = randomInt;
    syncBuiltinESMExports();
  };
}
