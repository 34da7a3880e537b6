import { counted, endpoint, eventually, inTime, rejectsWith, type SyncLaw, same, sums } from "./sync-world.ts";

type Restart = (whileAway?: () => Promise<void>) => Promise<void>;

const eu = endpoint("eu");

export const closingLaws: readonly SyncLaw[] = [
  [
    "close may be called twice and at once; a closed store rejects with SYNC_CLOSED, and its neighbours live on",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await inTime(Promise.all([a.store.close(), a.store.close(), a.store[Symbol.asyncDispose]()]), "it closes");
      await rejectsWith(a.report([counted(eu, 1, 1)]), "SYNC_CLOSED", "a report to a closed store");
      same(sums(await b.report([counted(eu, 1, 1)])), [[1, 1, 1]], "the neighbour's sum");
    },
  ],
  [
    "what is under way when the store closes comes to an end",
    async ({ instance }) => {
      const a = await instance("a");
      const underway = Array.from({ length: 20 }, (_, i) => a.report([counted(eu, i, i)]));
      const settled = Promise.allSettled(underway);
      await inTime(a.store.close(), "it closes");
      for (const outcome of await inTime(settled, "every call ends"))
        if (outcome.status === "rejected")
          await rejectsWith(Promise.reject(outcome.reason), "SYNC_CLOSED", "a call under way");
    },
  ],
];

/** What must hold when the server is killed and comes back. */
export const outageLaws = (restart: Restart): readonly SyncLaw[] => [
  [
    "while the server is away a report rejects with SYNC_UNAVAILABLE in bounded time, and afterwards it works again",
    async ({ instance }) => {
      const a = await instance("a");
      await a.report([counted(eu, 1, 10)]);
      await restart(() => rejectsWith(a.report([counted(eu, 2, 20)]), "SYNC_UNAVAILABLE", "a report while away"));
      const reply = await eventually(() => a.report([counted(eu, 3, 30)]), "it works again");
      same(sums(reply), [[3, 30, 1]], "the sum");
    },
  ],
  [
    "after an outage one is told what the server still has of one's own",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await a.report([counted(eu, 5, 50)]);
      await restart();
      const { own, requests, agents } = (await eventually(() => a.report([], [eu]), "it answers")).sums[0] ?? {};
      same([own?.requests ?? 0, own ? 1 : 0], [requests, agents], "own and sum");
      await a.report([counted(eu, 5, 50)]);
      same(
        sums(await eventually(() => b.report([counted(eu, 1, 1)]), "the other is back")),
        [[6, 51, 2]],
        "counted once",
      );
    },
  ],
  [
    "close while the server is away ends in bounded time",
    async ({ instance }) => {
      const a = await instance("a");
      await restart(async () => {
        const underway = a.report([counted(eu, 1, 1)]).catch(() => {});
        await inTime(a.store.close(), "it closes");
        await inTime(underway, "the call under way ends");
        await rejectsWith(a.report([]), "SYNC_CLOSED", "a report after it");
      });
    },
  ],
];
