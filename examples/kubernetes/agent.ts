/**
 * An agent as a pod runs it: serves HTTP, shares the limit with all other pods, and shuts down without losing a call.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { natsBus } from "@hivepace/bus-nats";
import { isHivepaceError } from "@hivepace/core";
import { createHive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { redisSync } from "@hivepace/sync-redis";

/** Returns a setting from the manifests. */
function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const apiUrl = setting("API_URL");
const hive = await createHive({
  agentId: setting("POD_NAME"),
  namespace: setting("HIVEPACE_ENVIRONMENT"),
  secret: setting("HIVEPACE_SECRET"),
  // Brokers and pods may start in any order.
  bus: natsBus({ servers: setting("NATS_URL"), user: "agent", pass: setting("NATS_PASSWORD"), waitForBroker: true }),
  sync: redisSync({
    url: setting("REDIS_URL"),
    username: "agent",
    password: setting("REDIS_PASSWORD"),
    waitForBroker: true,
  }),
  endpoints: [{ id: "api", rpmLimit: Number(setting("RPM_LIMIT")), tpmLimit: Number(setting("TPM_LIMIT")) }],
});
const limited = createLimitedFetch(hive, { endpoint: "api" });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A pod is alive while it answers, and ready while it accepts new calls.
  if (request.url === "/live") return void response.end("ok");
  if (request.url === "/ready") return void response.writeHead(isLeaving ? 503 : 200).end(hive.status().mode);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answered = await limited(apiUrl, { method: "POST", body: Buffer.concat(chunks) });
    response.writeHead(answered.status).end(await answered.text());
  } catch (error) {
    // 503 makes the client retry on another pod.
    const status = isHivepaceError(error, "LIMITER_CLOSED") ? 503 : 502;
    response.writeHead(status).end();
  }
}

let isLeaving = false;
const server = createServer((request, response) => void answer(request, response));
server.listen(Number(setting("PORT")), () => console.log(`listening on ${(server.address() as AddressInfo).port}`));

process.once("SIGTERM", async () => {
  isLeaving = true;
  console.log(`leaving, ${hive.status().leases} calls are under way`);
  // New calls are refused, calls under way end, and the other pods get this pod's share at once.
  await hive.close({ drainMs: Number(setting("DRAIN_MS")) });
  server.close(() => console.log("left"));
  server.closeIdleConnections();
});
