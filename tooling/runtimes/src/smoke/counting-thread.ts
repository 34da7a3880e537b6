/** The program of each worker thread: checks requests on shared counters and sends the number granted. */
import { parentPort, workerData } from "node:worker_threads";
import { RateManager, type SharedHandle } from "@hivepace/core";

const { shared, asks } = workerData as { shared: SharedHandle; asks: number };
const manager = new RateManager({ shared });
let granted = 0;
for (let i = 0; i < asks; i++) if (manager.check({ endpoint: "api", tokens: 1 }).allowed) granted++;
parentPort?.postMessage(granted);
