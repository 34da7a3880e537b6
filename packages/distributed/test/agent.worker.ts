/** An instance in its own process, which executes its parent's commands and answers each one. */
import { RateManager } from "@hivepace/core";
import { redisSync } from "@hivepace/sync-redis";
import { createRouter, startGlobalView } from "../src/index.ts";

const [url = "", agentId = "", namespace = ""] = process.argv.slice(2);
// A window long enough that none ends during the run: the next boundary is in 2033.
const manager = new RateManager({ windowMs: 1_000_000_000_000 });
for (const id of ["eu", "us"]) manager.setEndpoint({ id, rpmLimit: 1_000 });
const store = await redisSync({ url });
// Only the parent triggers syncs, so that it can count them.
const view = startGlobalView({ manager, store, agentId, namespace, intervalMs: 3_600_000 });
const router = createRouter({ manager, view });

const acts = {
  async sync() {
    await view.refresh();
    return view.status().failures;
  },
  async send({ endpoint, times }: { endpoint: string; times: number }) {
    for (let i = 0; i < times; i++) manager.check({ endpoint, tokens: 1 });
    return times;
  },
  /** Routes calls, sends each to the chosen endpoint, and counts the calls per endpoint. */
  async route({ times }: { times: number }) {
    const taken: Record<string, number> = { eu: 0, us: 0 };
    for (let i = 0; i < times; i++) {
      const { endpoint, allowed } = router.route({ candidates: ["eu", "us"], tokens: 1, session: `session ${i}` });
      if (!allowed || !manager.check({ endpoint, tokens: 1 }).allowed) throw new Error("there is room");
      taken[endpoint] = (taken[endpoint] ?? 0) + 1;
    }
    return taken;
  },
  get: async ({ endpoint }: { endpoint: string }) => view.get(endpoint),
};

process.on("message", async ({ act, ...details }: { act: keyof typeof acts; endpoint: string; times: number }) => {
  process.send?.(await acts[act](details));
});
await view.refresh();
process.send?.("ready");
