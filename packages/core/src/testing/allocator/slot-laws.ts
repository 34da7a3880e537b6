import { eventually, same } from "../sync-world.ts";
import { type AllocatorLaw, within } from "./world.ts";

/** Shorter than any call in these laws, because calls in flight do not expire with the window. */
const WINDOW_MS = 40;
const LONG_MS = 600_000;

/** Laws of limits on calls in flight: their grants and their release. */
export const slotLaws: readonly AllocatorLaw[] = [
  [
    "calls in flight count until they end, for any duration",
    async ({ agent }) => {
      const options = { limits: [3], windowMs: WINDOW_MS };
      const a = await agent("a", options);
      const b = await agent("b", options);
      const none = { endsMs: LONG_MS, bins: [] };
      await a.learned({ ...none, all: [3] });
      await eventually(async () => {
        await a.ask({ ...none, all: [3] });
        return a.left >= 3 ? true : undefined;
      }, "all slots are handed out");
      a.use(3);
      await a.ask({ endsMs: LONG_MS, bins: [[3]] });
      const since = Date.now();
      await eventually(async () => {
        await b.ask({ ...none, all: [1] });
        same(b.left, 0, "slots of calls under way");
        return Date.now() - since > 3 * WINDOW_MS ? true : undefined;
      }, "several windows have passed");
      await a.ask({ endsMs: LONG_MS, back: [2], bins: [[1]] });
      await eventually(async () => {
        await b.ask({ ...none, all: [3] });
        return b.left >= 1 ? true : undefined;
      }, "the slots of ended calls are handed out");
      within(b.left, 1, 2, "slots of ended calls");
    },
  ],
  [
    "calls of a departed agent count until they have ended",
    async ({ agent }) => {
      const options = { limits: [2], windowMs: WINDOW_MS };
      const a = await agent("a", options);
      const b = await agent("b", options);
      const none = { endsMs: LONG_MS, bins: [] };
      await a.learned({ ...none, all: [2] });
      await eventually(async () => {
        await a.ask({ ...none, all: [2] });
        return a.left >= 2 ? true : undefined;
      }, "all slots are handed out");
      a.use(2);
      const endsMs = 10 * WINDOW_MS;
      const saidAt = Date.now();
      await a.ask({ endsMs, bins: [[2]] }, { bye: true });
      await eventually(async () => {
        await b.ask({ ...none, all: [1] });
        return b.left >= 1 ? true : undefined;
      }, "the slots of the departed agent are handed out");
      within(Date.now() - saidAt, endsMs - WINDOW_MS, Infinity, "time until its calls have ended");
    },
  ],
];
