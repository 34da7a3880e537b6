/** Four worker threads, one account: together they get exactly its limit. */
import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { RateManager } from "@hivepace/core";

if (isMainThread) {
  // Limits are per minute by default; a day here, so that no window ends in the middle of the example.
  const manager = new RateManager({ windowMs: 86_400_000 });
  manager.setEndpoint({ id: "anthropic-primary", rpmLimit: 1_000, tpmLimit: 100_000 });
  manager.setKey("acme", { rpmLimit: 600 });

  const workers = Array.from(
    { length: 4 },
    () => new Worker(new URL(import.meta.url), { workerData: manager.share() }),
  );
  const answers = await Promise.all(workers.map((worker) => once(worker, "message")));
  const granted = answers.reduce((sum, [count]) => sum + count, 0);
  console.log(`four threads asked for 2000 requests and were granted ${granted}`);
  console.log(manager.peek({ endpoint: "anthropic-primary", key: "acme", tokens: 100 }).limitedBy);
} else {
  const manager = new RateManager({ shared: workerData });
  const acme = manager.handle({ endpoint: "anthropic-primary", key: "acme" });
  let granted = 0;
  for (let i = 0; i < 500; i++) if (acme.check(100).allowed) granted++;
  parentPort?.postMessage(granted);
}

/* Output:
four threads asked for 2000 requests and were granted 600
key-rpm
*/
