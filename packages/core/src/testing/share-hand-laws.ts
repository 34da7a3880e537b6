import { seededRandom } from "./seeded-random.ts";
import { HEARTBEAT_MS, near, type ShareAgent, type ShareLaw, within } from "./share-world.ts";
import { same } from "./sync-world.ts";

/** What is handed out, to whom, and what becomes of it. */
export const handLaws: readonly ShareLaw[] = [
  [
    "a store without a memory hands out nothing until it has learned, and then what is wanted",
    async ({ agent }) => {
      const a = await agent("a");
      const first = await a.ask({ all: [10], next: [10] });
      same([first.isLearning, first.members, first.allowed], [true, 1, [0]], "the first answer");
      await a.learned({ all: [10], next: [10] });
      within(a.left, 10, 100, "what it was handed");
    },
  ],
  [
    "what is handed out is never more than the capacity, whoever asks, however often",
    async ({ agent, open }) => {
      const stores = [await open(), await open()];
      const agents = await Promise.all(
        Array.from({ length: 20 }, (_, i) => agent(`a${i}`, { store: stores[i % 2] as never })),
      );
      await (agents[0] as ShareAgent).learned();
      for (let round = 0; round < 8; round++) await Promise.all(agents.map((one) => one.ask({ all: [30] })));
      const handed = agents.reduce((sum, { left }) => sum + left, 0);
      within(handed, 90, 100, "what all were handed");
    },
  ],
  [
    "grants of a dimension without a limit leave no rounding errors when it gets one",
    async ({ agent, open }) => {
      const store = await open();
      const agents = await Promise.all(
        ["a", "b", "c"].map((id, i) => agent(id, { store, limits: [1e12, 1_000], weight: 1 + i / 7 })),
      );
      await (agents[0] as ShareAgent).learned();
      for (let round = 0; round < 5; round++) for (const one of agents) await one.ask();
      for (const one of agents) {
        one.allowed = [...one.sent];
        await one.ask({ limits: [1, 1_000] });
      }
      const [first] = agents as [ShareAgent];
      for (let round = 0; round < 200 && first.left < 1; round++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        for (const one of agents) await one.ask({ limits: [1, 1_000], ...(one === first ? { all: [1, 1] } : {}) });
      }
      same(first.left >= 1, true, "a call is granted");
    },
  ],
  [
    "whatever is used, let go of and asked for, what is used and held stays within the capacity (seed 1)",
    async ({ agent, open }) => {
      const random = seededRandom(1);
      const store = await open();
      const agents = await Promise.all(
        Array.from({ length: 6 }, (_, i) => agent(`a${i}`, { store, limits: [50, 1_000] })),
      );
      await (agents[0] as ShareAgent).learned();
      for (let i = 0; i < 300; i++) {
        const one = agents[Math.floor(random() * agents.length)] as ShareAgent;
        const [requests, tokens] = one.allowed.map((amount, d) => amount - (one.sent[d] ?? 0)) as [number, number];
        if (random() < 0.3 && requests >= 1) one.use(1, Math.floor(tokens * random()));
        const all = random() < 0.3 ? [0, 0] : [Math.ceil(random() * 5), Math.ceil(random() * 200)];
        await one.ask({ all, next: all.map((amount) => Math.min(amount, 20 * random() + 1)) });
        for (const [d, limit] of [50, 1_000].entries()) {
          const sum = agents.reduce((total, { allowed }) => total + (allowed[d] ?? 0), 0);
          within(sum, 0, limit, `step ${i}, amount ${d}`);
        }
      }
    },
  ],
  [
    "those who wait are served in turn: each gets as much, or by its weight",
    async ({ agent, open }) => {
      const store = await open();
      const heartbeatMs = 10 * HEARTBEAT_MS;
      const serve = async (name: string): Promise<{ handed: number[]; tookMs: number }> => {
        const agents = await Promise.all(
          [1, 1, 2].map((weight, i) => agent(`a${i}`, { store, name, weight, limits: [400_000], windowMs: 1e5 })),
        );
        const ask = (one: ShareAgent) => one.ask({ all: [400_000], next: [1] }, { heartbeatMs });
        const first = agents[0] as ShareAgent;
        // While it learns, all take their place.
        while (first.answer?.isLearning !== false) for (const one of agents) await ask(one);
        const from = performance.now();
        for (let round = 0; round < 3; round++) for (const one of agents) await ask(one);
        return { handed: agents.map(({ left }) => left), tookMs: performance.now() - from };
      };
      // Grants shrink while agents contend. A run that took too long for a fair comparison is repeated.
      let served = await serve("turns");
      for (let i = 1; served.tookMs > heartbeatMs; i++) served = await serve(`turns ${i}`);
      const [a, b, c] = served.handed as [number, number, number];
      within(a + b + c, 1, 400_000, "all together");
      within(b / a, 0.9, 1.1, "one beside its equal");
      within(c / a, 1.7, 2.3, "one of twice the weight");
    },
  ],
  [
    "what an agent lets go of is there for others, once it says so and not before",
    async ({ agent }) => {
      const [a, b] = [await agent("a"), await agent("b")];
      await a.learned({ all: [100], next: [100] });
      near(a.left, 100, "all");
      await b.ask({ all: [40], next: [40] });
      near(b.left, 0, "nothing is left");
      const { allowed } = await a.ask({ all: [30], next: [1] });
      near(allowed[0] ?? 0, 30, "the first is asked to let go");
      await b.ask({ all: [40], next: [40] });
      near(b.left, 0, "it may not have heard that yet");
      await a.ask({ all: [30], next: [1] });
      await b.ask({ all: [40], next: [40] });
      near(b.left, 40, "now it has said so");
    },
  ],
  [
    "what is used stays used, and leaves with its window",
    async ({ agent }) => {
      const a = await agent("a", { windowMs: 2_000 });
      await a.learned({ all: [100], next: [100] });
      a.use(100);
      const { used } = await a.ask({ all: [10], next: [10] });
      near(used[0] ?? 0, 100, "what is used");
      near(a.left, 0, "what is left");
      // The window passes while it asks.
      for (;;) {
        await a.ask({ all: [10], next: [10], bins: [] });
        if (a.left > 0) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  ],
  [
    "while nobody waits, each has half of its part of what is free in advance",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await b.ask();
      await a.learned();
      near(a.left, 25, "half of a half");
      await b.ask({ all: [60], next: [60] });
      near(b.left, 60, "another needs it");
      await b.ask({ all: [60, 0], next: [60] });
      const { allowed } = await a.ask();
      within(allowed[0] ?? 0, 0, 10.1, "it is asked to let go of most");
    },
  ],
  [
    "a call that is larger than all there is does not hold up the others",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await a.learned({ all: [500], next: [500] });
      await b.ask({ all: [20], next: [20] });
      within(b.left, 20, 50, "the small one");
    },
  ],
];
