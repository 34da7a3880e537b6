import { setImmediate as nextTurn } from "node:timers/promises";
import type { World } from "./rounds.ts";

/** Real time. With `--expose-gc`, what one contender leaves behind is swept before the next one's time runs. */
export const realWorld: World = {
  now: () => performance.now(),
  async settle() {
    await nextTurn();
    globalThis.gc?.({ execution: "sync", type: "minor" });
  },
};
