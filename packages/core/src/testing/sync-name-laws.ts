import type { SyncName } from "../sync-store.ts";
import { counted, endpoint, eventually, type SyncLaw, same, sums } from "./sync-world.ts";

/** Names that a careless encoding would confuse. */
const awkward: readonly SyncName[] = [
  endpoint("a:b", "c"),
  endpoint("a", "b:c"),
  endpoint("a"),
  endpoint("a", "b"),
  endpoint("a b", "c"),
  endpoint("a%20b", "c"),
  endpoint("{a}", "b"),
  endpoint("日本", "模型"),
  endpoint("window"),
  endpoint("x\ny", "*"),
  { kind: "key", id: "a" },
  { kind: "key", id: "a", model: "b" },
  { kind: "other", id: "a" },
];

/** Laws of names, namespaces and windows. */
export const nameLaws: readonly SyncLaw[] = [
  [
    "names with separators and escapes stay distinct",
    async ({ instance }) => {
      const a = await instance("a");
      await a.report(awkward.map((of, i) => counted(of, i + 1, 100 * i)));
      const reply = await (await instance("b")).report([], awkward);
      same(
        sums(reply),
        awkward.map((_, i) => [i + 1, 100 * i, 1]),
        "the sum of each name",
      );
    },
  ],
  [
    'an absent model equals the model "default"',
    async ({ instance }) => {
      await (await instance("a")).report([counted(endpoint("eu"), 1, 10)]);
      const reply = await (await instance("b")).report([counted(endpoint("eu", "default"), 2, 20)]);
      same(sums(reply), [[3, 30, 2]], "the sum");
    },
  ],
  [
    "agents and incarnations with separators stay distinct",
    async ({ instance }) => {
      const who = [
        ["a", "b/c"],
        ["a/b", "c"],
        ["window", "1"],
        ["total", "1"],
        ["a b", "1"],
        ["日本", "\n"],
      ] as const;
      for (const [i, [agentId, incarnation]] of who.entries()) {
        const reply = await (await instance(agentId, { incarnation })).report([counted(endpoint("eu"), 1, 10)]);
        same(sums(reply), [[i + 1, 10 * (i + 1), i + 1]], "the sum");
        same(reply.sums[0]?.own, { requests: 1, tokens: 10 }, "its own part");
      }
    },
  ],
  [
    "namespaces stay distinct",
    async ({ instance, namespace }) => {
      const a = await instance("a");
      await a.report([counted(endpoint("eu"), 5, 50)]);
      for (const other of [`${namespace}:ratelimit`, `${namespace} `, `${namespace}%`])
        same(
          sums(await a.report([], [endpoint("eu")], { namespace: other })),
          [[0, 0, 0]],
          "the sum in another namespace",
        );
    },
  ],
  [
    "sums are returned in the order of the counts, then of the watched names",
    async ({ instance }) => {
      const names = Array.from({ length: 60 }, (_, i) => endpoint(`e${i}`, i % 2 ? "m" : undefined));
      const counts = names.slice(0, 40).map((of, i) => counted(of, i, i * 10));
      await (await instance("a")).report(names.map((of) => counted(of, 1_000, 0)));
      const reply = await (await instance("b")).report(counts, names.slice(40));
      same(
        sums(reply),
        names.map((_, i) => (i < 40 ? [1_000 + i, i * 10, 2] : [1_000, 0, 1])),
        "the sums",
      );
    },
  ],
  [
    "reports of no name, one name and three thousand names are one exchange each",
    async ({ instance }) => {
      const a = await instance("a");
      same((await a.report([])).sums, [], "the sums of no names");
      const names = Array.from({ length: 3_000 }, (_, i) => endpoint(`e${i}`));
      const reply = await a.report(names.map((of, i) => counted(of, i, i)));
      same(
        sums(reply),
        names.map((_, i) => [i, i, 1]),
        "the sums",
      );
    },
  ],
  [
    "a name without counts has a sum of 0 and no own part",
    async ({ instance }) => {
      const { sums: answer } = await (await instance("a")).report([], [endpoint("nobody")]);
      same(answer, [{ requests: 0, tokens: 0, agents: 0, own: undefined, error: undefined }], "the sum");
    },
  ],
  [
    "a new window starts empty, and late reports for the old window are not counted in it",
    async ({ instance }) => {
      const windowMs = 400;
      const a = await instance("a", { windowMs });
      const eu = endpoint("eu");
      const old = await eventually(async () => {
        const { window } = await a.report([]);
        const reply = await a.report([counted(eu, 5, 50)], [], { window });
        return reply.sums[0]?.own ? window : undefined;
      }, "the report is counted");
      const next = await eventually(async () => {
        const reply = await a.report([], [eu]);
        return reply.window > old ? reply : undefined;
      }, "the next window");
      same(sums(next), [[0, 0, 0]], "the sum in the next window");
      same(next.window, Math.floor(next.epochMs / windowMs), "the number of the next window");
      const late = await a.report([counted(eu, 6, 60)], [], { window: old });
      same(sums(late), [[0, 0, 0]], "the sum after a late report");
    },
  ],
  [
    "the counts of an instance in one window do not carry over into the next",
    async ({ instance, open }) => {
      const windowMs = 400;
      const store = await open();
      const [a, b] = [await instance("a", { windowMs, store }), await instance("b", { windowMs, store })];
      const eu = endpoint("eu");
      /** Makes both instances report in one window after `last`. */
      const both = (first: number, second: number, last: number) =>
        eventually(async () => {
          const { window } = await a.report([]);
          if (window <= last) return undefined;
          await a.report([counted(eu, first, first)], [], { window });
          const reply = await b.report([counted(eu, second, second)], [], { window });
          return reply.window === window ? reply : undefined;
        }, "reports of both in one window");
      const old = await both(7, 50, 0);
      same(sums(old), [[57, 57, 2]], "the sum in the first window");
      const next = await both(1, 2, old.window);
      same(sums(next), [[3, 3, 2]], "the sum in the next window");
      same(next.sums[0]?.own, { requests: 2, tokens: 2 }, "the part of the second");
    },
  ],
];
