import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/**
 * Replaces the random part of an agent's incarnation by a count of the starts, so that a seed always runs the same way.
 * Returns the function that restores it.
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
