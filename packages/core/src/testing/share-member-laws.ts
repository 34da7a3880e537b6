import type { ShareLevel } from "../share-store.ts";
import { HEARTBEAT_MS, near, type ShareLaw, within } from "./share-world.ts";
import { eventually, rejectsWith, same } from "./sync-world.ts";

const cut: ShareLevel = {
  epoch: 1,
  base: 0.5,
  round: 0,
  pauseMs: 0,
  tie: "0a",
  recoveryFactor: 1.1,
  recoveryIntervalMs: 1e9,
  most: 1,
  cutAgoMs: 5_000,
  pausedAgoMs: 5_000,
  origin: 'a "quoted" \\ name, 日本',
  reason: "429",
};

/** Who is there, who was, and what all are told. */
export const memberLaws: readonly ShareLaw[] = [
  [
    "the same report twice, or an older one after a newer one, changes nothing",
    async ({ agent }) => {
      const [a, b] = [await agent("a"), await agent("b")];
      await a.learned({ all: [20], next: [20] });
      // While somebody waits, nothing is lent.
      await b.ask({ all: [100], next: [100] });
      a.use(10);
      const late = a.report({ all: [50], next: [50] });
      for (let i = 0; i < 3; i++) await a.ask({ all: [10] });
      near(a.answer?.used[0] ?? 0, 20, "what is used and held");
      for (let i = 0; i < 3; i++) await a.store.share(late);
      const { used, members } = await a.ask({ all: [10] });
      near(used[0] ?? 0, 20, "what is used and held after it");
      same(members, 2, "members");
    },
  ],
  [
    "a later life ends the one before, and what that held counts as used",
    async ({ agent, open }) => {
      const store = await open();
      const before = await agent("a", { store });
      await before.learned({ all: [60], next: [60] });
      before.use(10);
      const after = await agent("a", { store, life: 2 });
      const { members } = await after.ask({ all: [100], next: [100] });
      same(members, 1, "members");
      near(after.left, 0, "there is not so much");
      await after.ask({ all: [40], next: [40] });
      near(after.left, 40, "what the first did not hold");
      const answer = await before.ask({ all: [10] });
      same(answer.error !== undefined, true, "the first is told so");
      same((await after.ask()).members, 1, "members afterwards");
    },
  ],
  [
    "a goodbye lets go of all that is held; what was used stays used",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await b.ask();
      await a.learned({ all: [90], next: [90] });
      a.use(30);
      await a.ask({}, { bye: true });
      const { members } = await b.ask({ all: [70], next: [70] });
      near(b.left, 70, "what is left");
      same(members, 1, "members");
      same((await a.ask()).error !== undefined, true, "nothing is heard after a goodbye");
    },
  ],
  [
    "what one that fell silent may go on using is kept free for it",
    async ({ agent, open }) => {
      const store = await open();
      // The interval is longer than the time between two calls of this test on a slow machine.
      const options = { store, nextMs: 20 * HEARTBEAT_MS, windowMs: 60_000 };
      const [a, b] = [await agent("a", options), await agent("b", options)];
      await b.ask();
      await a.learned({ all: [50], next: [50] });
      a.use(20);
      await a.ask({ all: [30], next: [1] });
      await eventually(async () => ((await b.ask()).members === 1 ? true : undefined), "the first is silent");
      await b.ask({ all: [60], next: [60] });
      within(b.left, 0, 50, "what is kept for the first is not handed out");
      const { used } = await b.ask({ all: [60], next: [60] });
      within(used[0] ?? 0, 49, 101, "what it used and held");
      same((await a.ask({ all: [30], next: [1] })).members, 2, "it is back");
    },
  ],
  [
    "a store that knows less than an agent was told learns again, and takes over what agents have",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await b.ask();
      await a.learned({ all: [20], next: [20] });
      b.stamp = 1_000_000;
      b.allowed = [0];
      b.use(70);
      // It learns for longer than the next call takes, also on a slow machine.
      const heartbeatMs = 50 * HEARTBEAT_MS;
      same((await b.ask({ all: [10], bins: [[70]] }, { heartbeatMs })).isLearning, true, "it learns");
      same((await a.ask({ all: [90], next: [90] })).isLearning, true, "for all");
      await a.learned({ all: [90], next: [90] });
      within(a.left, 0, 30, "what the other has used is used");
    },
  ],
  [
    "what an unknown agent has used counts from when it was",
    async ({ agent, open }) => {
      const store = await open();
      const a = await agent("a", { store, windowMs: 12_000 });
      a.sent = [60];
      a.allowed = [60];
      // In each twelfth of the window so much, the youngest first.
      const { used } = await a.learned({ bins: [[10], [0], [20], [0], [30]] });
      near(used[0] ?? 0, 60 + a.left, "all of it");
    },
  ],
  [
    "the later level counts for all, and of two that say the same the older",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await a.learned();
      near((await a.ask({ level: cut })).capacity[0] ?? 0, 50, "half");
      near((await b.ask({ level: { ...cut, base: 0.8, tie: "ff" } })).capacity[0] ?? 0, 50, "a higher base is earlier");
      const { level } = await b.ask({ level: { ...cut, cutAgoMs: 9_000 } });
      within(level?.cutAgoMs ?? 0, 9_000, 60_000, "the older start");
      same([level?.origin, level?.reason, level?.tie], [cut.origin, cut.reason, cut.tie], "all that was said");
      near((await b.ask({ level: { ...cut, epoch: 2, base: 0.25 } })).capacity[0] ?? 0, 25, "a later epoch");
      const after = await b.ask({ level: { ...cut, epoch: 5_000, base: 0.2 } });
      near(after.capacity[0] ?? 0, 20, "a level after thousands of cuts since the last report");
      near((await a.ask({ least: 0.4 })).capacity[0] ?? 0, 40, "never below the minimum");
    },
  ],
  [
    "a store that knows no level learns it, however many cuts there were",
    async ({ agent }) => {
      const a = await agent("a");
      await a.learned();
      near((await a.ask({ level: { ...cut, epoch: 5_000 } })).capacity[0] ?? 0, 50, "half");
    },
  ],
  [
    "nothing is handed out in a pause",
    async ({ agent }) => {
      const a = await agent("a");
      await a.learned();
      const { left } = a;
      await a.ask({ all: [90], next: [90], level: { ...cut, base: 1, pauseMs: 1e9 } });
      near(a.left, left, "no more than it had");
    },
  ],
  [
    "the smallest limit counts, and several leave the headroom free",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store, limits: [40] })];
      near((await a.learned({ headroom: 0.1 })).capacity[0] ?? 0, 100, "alone");
      same((await b.ask()).limits, [40], "limits");
      near((await a.ask({ headroom: 0.1 })).capacity[0] ?? 0, 36, "two");
    },
  ],
  [
    "a roll-call counts agents, and says when they are many and when they are few again",
    async ({ agent, open }) => {
      const store = await open();
      const crowd = { isStore: false, above: 3, below: 2 };
      const agents = await Promise.all(
        Array.from({ length: 4 }, (_, i) => agent(`a${i}`, { store, limits: [], name: "all" })),
      );
      const [a, b, c, d] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];
      await a.learned({ crowd });
      for (const one of [b, c]) same((await one.ask({ crowd })).isStore, false, "three are few");
      same((await d.ask({ crowd })).isStore, true, "four are many");
      for (const one of [d, c]) await one.ask({ crowd }, { bye: true });
      same((await a.ask({ crowd })).isStore, true, "two are still many");
      await b.ask({ crowd }, { bye: true });
      same((await a.ask({ crowd })).isStore, false, "one is few");
    },
  ],
  [
    "namespaces, pools, windows and agents of any name are kept apart",
    async ({ agent, open, namespace }) => {
      const store = await open();
      const awkward = ["pool", "a:b", "{x}", "ü 日本", "%7B", "a b\n"];
      const options = [
        ...awkward.map((name) => ({ store, name })),
        { store, namespace: `${namespace}:x` },
        { store, windowMs: 2e9 },
      ];
      const agents = await Promise.all(options.flatMap((one) => [agent("x:y", one), agent("x", one)]));
      for (const one of agents) await one.ask();
      for (const one of agents) same((await one.learned()).members, 2, "members");
    },
  ],
  [
    "fractions and large numbers are exact",
    async ({ agent }) => {
      const limits = [1e12, 0.5];
      const a = await agent("a", { limits });
      const all = [123_456_789.25, 0.125];
      const { capacity } = await a.learned({ all, next: all, least: 0 });
      same(capacity, limits, "the capacity");
      near(a.allowed[0] ?? 0, 123_456_789.25, "the large one");
      near(a.allowed[1] ?? 0, 0.125, "the small one");
    },
  ],
  [
    "a closed store rejects with SYNC_CLOSED",
    async ({ agent }) => {
      const a = await agent("a");
      await (a.store as unknown as { close(): Promise<void> }).close();
      await rejectsWith(a.ask(), "SYNC_CLOSED", "a report to a closed store");
    },
  ],
];
