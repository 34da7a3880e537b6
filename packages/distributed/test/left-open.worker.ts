/** Starts a view on the store's own connection and closes nothing: the process must still end by itself. */
import { RateManager } from "@hivepace/core";
import { redisSync } from "@hivepace/sync-redis";
import { startGlobalView } from "../src/index.ts";

const [url = "", connectTimeoutMs = "0"] = process.argv.slice(2);
const manager = new RateManager();
manager.setEndpoint({ id: "eu", rpmLimit: 10 });
const store = await redisSync({ url, waitForBroker: true, connectTimeoutMs: Number(connectTimeoutMs) });
const view = startGlobalView({ manager, store, agentId: "left open", intervalMs: 50 });
await view.refresh();
process.stdout.write(`${view.status().state}\n`);
