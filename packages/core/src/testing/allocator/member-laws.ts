import type { ReportedLevel } from "../../allocator.ts";
import { eventually, rejectsWith, same } from "../sync-world.ts";
import { type AllocatorLaw, HEARTBEAT_MS, near, within } from "./world.ts";

const cut: ReportedLevel = {
  epoch: 1,
  levelAtCut: 0.5,
  pauseCount: 0,
  pauseMs: 0,
  tie: "0a",
  recoveryFactor: 1.1,
  recoveryIntervalMs: 1e9,
  levelMax: 1,
  cutAgoMs: 5_000,
  pausedAgoMs: 5_000,
  origin: 'a "quoted" \\ name, 日本',
  reason: "429",
};

/** Laws of membership, levels, limits and names. */
export const memberLaws: readonly AllocatorLaw[] = [
  [
    "a repeated report, or an older one after a newer one, changes nothing",
    async ({ agent }) => {
      const [a, b] = [await agent("a"), await agent("b")];
      await a.learned({ all: [20], next: [20] });
      // While an agent waits, nothing is granted in advance.
      await b.ask({ all: [100], next: [100] });
      a.use(10);
      const late = a.report({ all: [50], next: [50] });
      for (let i = 0; i < 3; i++) await a.ask({ all: [10] });
      near(a.answer?.used[0] ?? 0, 20, "usage and grants");
      for (let i = 0; i < 3; i++) await a.store.allocate(late);
      const { used, members } = await a.ask({ all: [10] });
      near(used[0] ?? 0, 20, "usage and grants after the late report");
      same(members, 2, "members");
    },
  ],
  [
    "a later incarnation ends the earlier one, whose grants count as used",
    async ({ agent, open }) => {
      const store = await open();
      const before = await agent("a", { store });
      await before.learned({ all: [60], next: [60] });
      before.use(10);
      const after = await agent("a", { store, life: 2 });
      const { members } = await after.ask({ all: [100], next: [100] });
      same(members, 1, "members");
      near(after.left, 0, "the grant of more than is free");
      await after.ask({ all: [40], next: [40] });
      near(after.left, 40, "the grant of the free capacity");
      const answer = await before.ask({ all: [10] });
      same(answer.error !== undefined, true, "the reply to the earlier incarnation is an error");
      same((await after.ask()).members, 1, "members afterwards");
    },
  ],
  [
    "a goodbye returns all grants and keeps the usage",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await b.ask();
      await a.learned({ all: [90], next: [90] });
      a.use(30);
      await a.ask({}, { bye: true });
      const { members } = await b.ask({ all: [70], next: [70] });
      near(b.left, 70, "the grant of the returned capacity");
      same(members, 1, "members");
      same((await a.ask()).error !== undefined, true, "the reply after a goodbye is an error");
    },
  ],
  [
    "the capacity that a silent agent may go on using is held for it",
    async ({ agent, open }) => {
      const store = await open();
      // The report interval is longer than the time between two calls of this test on a slow machine.
      const options = { store, nextMs: 20 * HEARTBEAT_MS, windowMs: 60_000 };
      const [a, b] = [await agent("a", options), await agent("b", options)];
      await b.ask();
      await a.learned({ all: [50], next: [50] });
      a.use(20);
      await a.ask({ all: [30], next: [1] });
      await eventually(async () => ((await b.ask()).members === 1 ? true : undefined), "the first is silent");
      await b.ask({ all: [60], next: [60] });
      within(b.left, 0, 50, "the grant beside the capacity held for the first");
      const { used } = await b.ask({ all: [60], next: [60] });
      within(used[0] ?? 0, 49, 101, "usage and grants");
      same((await a.ask({ all: [30], next: [1] })).members, 2, "members after the first is back");
    },
  ],
  [
    "a journal counts usage for agents that start later, whatever becomes of its agent, and is granted nothing",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store, windowMs: 60_000 }), await agent("b", { store, windowMs: 60_000 })];
      const journal = { isAsking: false };
      a.use(30);
      const first = await a.ask({ journal, bins: [[10], [0], [0], [0], [0], [20]], all: [50], next: [1] });
      same(first.bins, undefined, "the usage, for an agent that does not ask");
      a.use(5);
      await a.ask({ journal, bins: [[15], [0], [0], [0], [0], [20]], all: [50], next: [1] });
      near(a.answer?.allowed[0] ?? 0, 35, "the usage and the grant");
      const { bins = [] } = await b.ask({ journal: { isAsking: true }, bins: [] });
      const sum = (from: number, to: number) => bins.slice(from, to).reduce((all, [amount = 0]) => all + amount, 0);
      near(sum(0, 3), 15, "the recent usage");
      near(sum(3, 12), 20, "the earlier usage");
      const again = await agent("a", { store, windowMs: 60_000, life: 2 });
      const reply = await again.ask({ journal: { isAsking: true }, bins: [] });
      near(
        (reply.bins ?? []).reduce((all, [amount = 0]) => all + amount, 0),
        35,
        "the usage, for the next incarnation",
      );
    },
  ],
  [
    "a store with an older stamp than an agent learns again and keeps the agents' grants",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await b.ask();
      await a.learned({ all: [20], next: [20] });
      b.stamp = 1_000_000;
      b.allowed = [0];
      b.use(70);
      // The store learns for longer than the next call takes, also on a slow machine.
      const heartbeatMs = 50 * HEARTBEAT_MS;
      same((await b.ask({ all: [10], bins: [[70]] }, { heartbeatMs })).isLearning, true, "the store learns");
      same((await a.ask({ all: [90], next: [90] })).isLearning, true, "the store learns for all agents");
      await a.learned({ all: [90], next: [90] });
      within(a.left, 0, 30, "the grant beside the usage of the other");
    },
  ],
  [
    "the usage of an unknown agent counts from its own time",
    async ({ agent, open }) => {
      const store = await open();
      const a = await agent("a", { store, windowMs: 12_000 });
      a.sent = [60];
      a.allowed = [60];
      // Usage of each twelfth of the window, the youngest first.
      const { used } = await a.learned({ bins: [[10], [0], [20], [0], [30]] });
      near(used[0] ?? 0, 60 + a.left, "the usage of all bins");
    },
  ],
  [
    "the later level applies to all agents, and of equal levels the earlier start",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await a.learned();
      near((await a.ask({ level: cut })).capacity[0] ?? 0, 50, "the capacity after a cut to a half");
      near(
        (await b.ask({ level: { ...cut, levelAtCut: 0.8, tie: "ff" } })).capacity[0] ?? 0,
        50,
        "the capacity after an earlier level",
      );
      const { level } = await b.ask({ level: { ...cut, cutAgoMs: 9_000 } });
      within(level?.cutAgoMs ?? 0, 9_000, 60_000, "the age of the earlier start");
      same([level?.origin, level?.reason, level?.tie], [cut.origin, cut.reason, cut.tie], "origin, reason and tie");
      near(
        (await b.ask({ level: { ...cut, epoch: 2, levelAtCut: 0.25 } })).capacity[0] ?? 0,
        25,
        "the capacity after a later epoch",
      );
      const after = await b.ask({ level: { ...cut, epoch: 5_000, levelAtCut: 0.2 } });
      near(after.capacity[0] ?? 0, 20, "the capacity after thousands of cuts");
      near((await a.ask({ least: 0.4 })).capacity[0] ?? 0, 40, "the minimal capacity");
    },
  ],
  [
    "ties of different lengths are compared by value",
    async ({ agent }) => {
      const a = await agent("a");
      await a.learned();
      for (const tie of ["9", "10"]) await a.ask({ level: { ...cut, tie, origin: tie } });
      const { level } = await a.ask({ level: { ...cut, tie: "a", origin: "a" } });
      same([level?.tie, level?.origin], ["10", "10"], "the level with the largest tie");
    },
  ],
  [
    "a store without a level accepts one after any number of cuts",
    async ({ agent }) => {
      const a = await agent("a");
      await a.learned();
      near((await a.ask({ level: { ...cut, epoch: 5_000 } })).capacity[0] ?? 0, 50, "the capacity after the cuts");
    },
  ],
  [
    "nothing is granted during a pause",
    async ({ agent }) => {
      const a = await agent("a");
      await a.learned();
      const { left } = a;
      await a.ask({ all: [90], next: [90], level: { ...cut, levelAtCut: 1, pauseMs: 1e9 } });
      near(a.left, left, "the grant during the pause");
    },
  ],
  [
    "the smallest limit applies, and several agents leave the safety margin free",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store, limits: [40] })];
      near((await a.learned({ headroom: 0.1 })).capacity[0] ?? 0, 100, "the capacity of one agent");
      same((await b.ask()).limits, [40], "limits");
      near((await a.ask({ headroom: 0.1 })).capacity[0] ?? 0, 36, "the capacity of two agents");
    },
  ],
  [
    "a roll-call counts agents and reports when all should enter and leave store mode",
    async ({ agent, open }) => {
      const store = await open();
      const crowd = { isStore: false, above: 3, below: 2 };
      const agents = await Promise.all(
        Array.from({ length: 4 }, (_, i) => agent(`a${i}`, { store, limits: [], name: "all" })),
      );
      const [a, b, c, d] = agents as [(typeof agents)[0], (typeof agents)[0], (typeof agents)[0], (typeof agents)[0]];
      await a.learned({ crowd });
      for (const one of [b, c]) same((await one.ask({ crowd })).isStore, false, "store mode with three agents");
      same((await d.ask({ crowd })).isStore, true, "store mode with four agents");
      for (const one of [d, c]) await one.ask({ crowd }, { bye: true });
      same((await a.ask({ crowd })).isStore, true, "store mode with two agents left");
      await b.ask({ crowd }, { bye: true });
      same((await a.ask({ crowd })).isStore, false, "store mode with one agent left");
    },
  ],
  [
    "namespaces, quotas, windows and agents of any name stay distinct",
    async ({ agent, open, namespace }) => {
      const store = await open();
      const awkward = ["quota", "a:b", "{x}", "ü 日本", "%7B", "a b\n"];
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
      near(a.allowed[0] ?? 0, 123_456_789.25, "the large grant");
      near(a.allowed[1] ?? 0, 0.125, "the small grant");
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
