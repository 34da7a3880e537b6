import { seededRandom } from "../seeded-random.ts";
import { same } from "../sync-world.ts";
import { type AllocatorAgent, type AllocatorLaw, HEARTBEAT_MS, near, within } from "./world.ts";

/** Laws of grants: their size, their order and their return. */
export const grantLaws: readonly AllocatorLaw[] = [
  [
    "an empty store grants nothing until it has learned, and then grants the demand",
    async ({ agent }) => {
      const a = await agent("a");
      const first = await a.ask({ all: [10], next: [10] });
      same([first.isLearning, first.members, first.allowed], [true, 1, [0]], "the first answer");
      await a.learned({ all: [10], next: [10] });
      within(a.left, 10, 100, "the grant");
    },
  ],
  [
    "grants never exceed the capacity, for any number of agents and requests",
    async ({ agent, open }) => {
      const stores = [await open(), await open()];
      const agents = await Promise.all(
        Array.from({ length: 20 }, (_, i) => agent(`a${i}`, { store: stores[i % 2] as never })),
      );
      await (agents[0] as AllocatorAgent).learned();
      for (let round = 0; round < 8; round++) await Promise.all(agents.map((one) => one.ask({ all: [30] })));
      const handed = agents.reduce((sum, { left }) => sum + left, 0);
      within(handed, 90, 100, "the sum of all grants");
    },
  ],
  [
    "grants of a dimension without a limit leave no rounding errors when it gets one",
    async ({ agent, open }) => {
      const store = await open();
      const agents = await Promise.all(
        ["a", "b", "c"].map((id, i) => agent(id, { store, limits: [1e12, 1_000], weight: 1 + i / 7 })),
      );
      await (agents[0] as AllocatorAgent).learned();
      for (let round = 0; round < 5; round++) for (const one of agents) await one.ask();
      for (const one of agents) {
        one.allowed = [...one.sent];
        await one.ask({ limits: [1, 1_000] });
      }
      const [first] = agents as [AllocatorAgent];
      for (let round = 0; round < 200 && first.left < 1; round++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        for (const one of agents) await one.ask({ limits: [1, 1_000], ...(one === first ? { all: [1, 1] } : {}) });
      }
      same(first.left >= 1, true, "a call is granted");
    },
  ],
  [
    "usage and grants stay within the capacity for random usage, returns and demand (seed 1)",
    async ({ agent, open }) => {
      const random = seededRandom(1);
      const store = await open();
      const agents = await Promise.all(
        Array.from({ length: 6 }, (_, i) => agent(`a${i}`, { store, limits: [50, 1_000] })),
      );
      await (agents[0] as AllocatorAgent).learned();
      for (let i = 0; i < 300; i++) {
        const one = agents[Math.floor(random() * agents.length)] as AllocatorAgent;
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
    "waiting agents are served in turn, in proportion to their weights",
    async ({ agent, open }) => {
      const store = await open();
      const heartbeatMs = 10 * HEARTBEAT_MS;
      const serve = async (name: string): Promise<{ handed: number[]; tookMs: number }> => {
        const agents = await Promise.all(
          [1, 1, 2].map((weight, i) => agent(`a${i}`, { store, name, weight, limits: [400_000], windowMs: 1e5 })),
        );
        const ask = (one: AllocatorAgent) => one.ask({ all: [400_000], next: [1] }, { heartbeatMs });
        const first = agents[0] as AllocatorAgent;
        // All agents join the queue while the store learns.
        while (first.answer?.isLearning !== false) for (const one of agents) await ask(one);
        const from = performance.now();
        for (let round = 0; round < 3; round++) for (const one of agents) await ask(one);
        return { handed: agents.map(({ left }) => left), tookMs: performance.now() - from };
      };
      // Grants shrink while agents contend. A run that took too long for a fair comparison is repeated.
      let served = await serve("turns");
      for (let i = 1; served.tookMs > heartbeatMs; i++) served = await serve(`turns ${i}`);
      const [a, b, c] = served.handed as [number, number, number];
      within(a + b + c, 1, 400_000, "the sum of all grants");
      within(b / a, 0.9, 1.1, "the ratio of equal weights");
      within(c / a, 1.7, 2.3, "the ratio of twice the weight");
    },
  ],
  [
    "returned capacity is available to others once the agent has reported the return",
    async ({ agent }) => {
      const [a, b] = [await agent("a"), await agent("b")];
      await a.learned({ all: [100], next: [100] });
      near(a.left, 100, "the grant of the whole capacity");
      await b.ask({ all: [40], next: [40] });
      near(b.left, 0, "the grant without free capacity");
      const { allowed } = await a.ask({ all: [30], next: [1] });
      near(allowed[0] ?? 0, 30, "the capacity that the first may keep");
      await b.ask({ all: [40], next: [40] });
      near(b.left, 0, "the grant before the return is reported");
      await a.ask({ all: [30], next: [1] });
      await b.ask({ all: [40], next: [40] });
      near(b.left, 40, "the grant after the return is reported");
    },
  ],
  [
    "usage counts until its window has passed",
    async ({ agent }) => {
      const a = await agent("a", { windowMs: 2_000 });
      await a.learned({ all: [100], next: [100] });
      a.use(100);
      const { used } = await a.ask({ all: [10], next: [10] });
      near(used[0] ?? 0, 100, "the usage");
      near(a.left, 0, "the remaining grant");
      // The agent asks until the window has passed.
      for (;;) {
        await a.ask({ all: [10], next: [10], bins: [] });
        if (a.left > 0) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  ],
  [
    "while no agent waits, each is granted half of its share of the free capacity in advance",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await b.ask();
      await a.learned();
      near(a.left, 25, "half of one of two equal shares");
      await b.ask({ all: [60], next: [60] });
      near(b.left, 60, "the grant of an agent that needs more");
      await b.ask({ all: [60, 0], next: [60] });
      const { allowed } = await a.ask();
      within(allowed[0] ?? 0, 0, 10.1, "the capacity that the first may keep");
    },
  ],
  [
    "a call larger than the capacity does not block other agents",
    async ({ agent, open }) => {
      const store = await open();
      const [a, b] = [await agent("a", { store }), await agent("b", { store })];
      await a.learned({ all: [500], next: [500] });
      await b.ask({ all: [20], next: [20] });
      within(b.left, 20, 50, "the grant of the small call");
    },
  ],
];
