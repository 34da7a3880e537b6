import { counted, endpoint, eventually, inTime, rejectsWith, type SyncLaw, same, sums } from "./sync-world.ts";

type Restart = (whileAway?: () => Promise<void>) => Promise<void>;

const eu = endpoint("eu");

export const closingLaws: readonly SyncLaw[] = [
  [
    "close may be called repeatedly and concurrently; a closed store rejects with SYNC_CLOSED, and other stores go on",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await inTime(Promise.all([a.store.close(), a.store.close(), a.store[Symbol.asyncDispose]()]), "close");
      await rejectsWith(a.report([counted(eu, 1, 1)]), "SYNC_CLOSED", "a report to a closed store");
      same(sums(await b.report([counted(eu, 1, 1)])), [[1, 1, 1]], "the sum of the other store");
    },
  ],
  [
    "calls in progress end when the store closes",
    async ({ instance }) => {
      const a = await instance("a");
      const underway = Array.from({ length: 20 }, (_, i) => a.report([counted(eu, i, i)]));
      const settled = Promise.allSettled(underway);
      await inTime(a.store.close(), "close");
      for (const outcome of await inTime(settled, "the end of every call"))
        if (outcome.status === "rejected")
          await rejectsWith(Promise.reject(outcome.reason), "SYNC_CLOSED", "a call in progress");
    },
  ],
];

/** Laws of a server that is killed and restarted. */
export const outageLaws = (restart: Restart): readonly SyncLaw[] => [
  [
    "during an outage a report rejects with SYNC_UNAVAILABLE in bounded time, and afterwards reports work again",
    async ({ instance }) => {
      const a = await instance("a");
      await a.report([counted(eu, 1, 10)]);
      await restart(() => rejectsWith(a.report([counted(eu, 2, 20)]), "SYNC_UNAVAILABLE", "a report while away"));
      const reply = await eventually(() => a.report([counted(eu, 3, 30)]), "a report after the outage");
      same(sums(reply), [[3, 30, 1]], "the sum");
    },
  ],
  [
    "after an outage a reply contains the instance's own part that the server still has",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await a.report([counted(eu, 5, 50)]);
      await restart();
      const { own, requests, agents } =
        (await eventually(() => a.report([], [eu]), "a reply after the outage")).sums[0] ?? {};
      same([own?.requests ?? 0, own ? 1 : 0], [requests, agents], "own and sum");
      await a.report([counted(eu, 5, 50)]);
      same(
        sums(await eventually(() => b.report([counted(eu, 1, 1)]), "a report of the other store")),
        [[6, 51, 2]],
        "counted once",
      );
    },
  ],
  [
    "close during an outage ends in bounded time",
    async ({ instance }) => {
      const a = await instance("a");
      await restart(async () => {
        const underway = a.report([counted(eu, 1, 1)]).catch(() => {});
        await inTime(a.store.close(), "close");
        await inTime(underway, "the end of the call in progress");
        await rejectsWith(a.report([]), "SYNC_CLOSED", "a report after close");
      });
    },
  ],
];
