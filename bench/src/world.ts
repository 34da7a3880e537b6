import { setImmediate as nextTurn } from "node:timers/promises";
import type { World } from "./rounds.ts";

/** Real time. With `--expose-gc`, the garbage of one contender is collected before the next one runs. */
export const realWorld: World = {
  now: () => performance.now(),
  async settle() {
    await nextTurn();
    globalThis.gc?.({ execution: "sync", type: "minor" });
  },
};
