import { seededRandom } from "./seeded-random.ts";
import { counted, endpoint, type Instance, LONG_WINDOW_MS, type SyncLaw, same, sums } from "./sync-world.ts";

const eu = endpoint("eu", "claude");

/** Laws of counting: every count is counted exactly once. */
export const countLaws: readonly SyncLaw[] = [
  [
    "a reply contains the sum over all instances and the instance's own part",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await a.report([counted(eu, 3, 300)]);
      const { sums: answer } = await b.report([counted(eu, 4, 50)]);
      same(
        answer,
        [{ requests: 7, tokens: 350, agents: 2, own: { requests: 4, tokens: 50 }, error: undefined }],
        "sums",
      );
      same((await a.report([], [eu])).sums[0]?.own, { requests: 3, tokens: 300 }, "the part of the first");
    },
  ],
  [
    "counts are absolute and may shrink when an estimate was too high",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await b.report([counted(eu, 1, 1)]);
      for (const [requests, tokens] of [
        [5, 500],
        [9, 4_000],
        [9, 1_234],
        [8, 0],
        [0, 0],
      ] as const) {
        same(sums(await a.report([counted(eu, requests, tokens)])), [[requests + 1, tokens + 1, 2]], "the sum");
      }
    },
  ],
  [
    "a repeated report counts once, and an older one after a newer one changes nothing",
    async ({ instance }) => {
      const a = await instance("a");
      for (const sequence of [5, 5, 5]) await a.report([counted(eu, 10, 100)], [], { sequence });
      await a.report([counted(eu, 20, 200)], [], { sequence: 7 });
      const late = await a.report([counted(eu, 15, 150)], [], { sequence: 6 });
      same(sums(late), [[20, 200, 1]], "the sum");
      same(late.sums[0]?.own, { requests: 20, tokens: 200 }, "the own part");
    },
  ],
  [
    "a restarted agent adds to its earlier counts and restarts its sequence",
    async ({ instance }) => {
      const before = await instance("a", { incarnation: "before" });
      await before.report([counted(eu, 30, 300)], [], { sequence: 1_000 });
      const after = await instance("a", { incarnation: "after" });
      const reply = await after.report([counted(eu, 2, 20)]);
      same(sums(reply), [[32, 320, 2]], "the sum");
      same(reply.sums[0]?.own, { requests: 2, tokens: 20 }, "its own part");
    },
  ],
  [
    "closing a store loses no counts of its instances",
    async ({ instance }) => {
      const [a, b] = [await instance("a"), await instance("b")];
      await a.report([counted(eu, 3, 300)]);
      await a.store.close();
      same(sums(await b.report([], [eu])), [[3, 300, 1]], "the sum");
    },
  ],
  [
    "large counts are exact",
    async ({ instance }) => {
      const [requests, tokens] = [2 ** 24 - 1, 2 ** 32 - 1];
      const store = (await instance("first")).store;
      for (let i = 1; i <= 300; i++) {
        const reply = await (await instance(`agent ${i}`, { store })).report([counted(eu, requests, tokens)]);
        same(sums(reply), [[i * requests, i * tokens, i]], "the sum");
      }
    },
  ],
  [
    "the newest report of each incarnation counts, for any order of reports (seed 1)",
    async ({ instance, open }) => {
      const random = seededRandom(1);
      const pick = (count: number) => Math.floor(random() * count);
      const things = [eu, endpoint("us"), endpoint("us", "x"), { kind: "key", id: "acme" }];
      const stores = [await open(), await open()];
      const newest = new Map<string, { sequence: number; requests: number; tokens: number }>();
      const instances = new Map<string, Instance>();
      for (let i = 0; i < 300; i++) {
        const [agent, incarnation, thing] = [`a${pick(3)}`, `${pick(2)}`, pick(things.length)];
        const who = `${agent}/${incarnation}`;
        const store = stores[pick(2)] ?? (await open());
        const one = instances.get(who) ?? (await instance(agent, { incarnation, store }));
        instances.set(who, one);
        const [sequence, requests, tokens] = [pick(40), pick(100), pick(10_000)];
        const name = `${thing} ${who}`;
        if (sequence > (newest.get(name)?.sequence ?? -1)) newest.set(name, { sequence, requests, tokens });
        const of = things[thing] ?? eu;
        const reply = await one.report([counted(of, requests, tokens)], [], { sequence });
        const left = [...newest].filter(([key]) => key.startsWith(`${thing} `)).map(([, count]) => count);
        const total = (part: "requests" | "tokens") => left.reduce((sum, count) => sum + count[part], 0);
        same(sums(reply), [[total("requests"), total("tokens"), left.length]], `step ${i}`);
      }
    },
  ],
  [
    "overlapping reports are all counted",
    async ({ instance, open }) => {
      const stores = [await open(), await open(), await open()];
      const agents = await Promise.all(
        Array.from({ length: 30 }, (_, i) => instance(`agent ${i}`, { store: stores[i % 3] ?? stores[0] } as object)),
      );
      for (let round = 1; round <= 3; round++)
        await Promise.all(agents.map((agent) => agent.report([counted(eu, round, round * 100)])));
      same(sums(await (agents[0] as Instance).report([], [eu])), [[90, 9_000, 30]], "the sum");
    },
  ],
  [
    "a report for another or no window counts nothing and is answered",
    async ({ instance }) => {
      const a = await instance("a");
      const { window, epochMs } = await a.report([counted(eu, 3, 300)]);
      same(window, Math.floor(epochMs / LONG_WINDOW_MS), "the window is that of the store's clock");
      for (const other of [window - 1, window + 1, undefined]) {
        const reply = await a.report([counted(eu, 9, 900)], [], { window: other });
        same([reply.window, sums(reply)], [window, [[3, 300, 1]]], `the sum after a report for ${other}`);
      }
    },
  ],
];
