/**
 * Two instances, two endpoints: each sees the usage of both, and traffic leaves an endpoint that the other has filled.
 */
import { RateManager } from "@hivepace/core";
import { memorySyncStore } from "@hivepace/core/testing";
import { createRouter, startGlobalView } from "@hivepace/distributed";

// Instances on several machines share a Redis: await redisSync({ url: "redis://localhost:6379" })
const store = memorySyncStore();

function start(agentId: string) {
  // Limits are per minute by default; a day here, so that no window ends in the middle of the example.
  const manager = new RateManager({ windowMs: 86_400_000 });
  for (const id of ["eu", "us"]) manager.setEndpoint({ id, model: "claude", rpmLimit: 1_000, tpmLimit: 100_000 });
  const view = startGlobalView({ manager, store, agentId, namespace: "example" });
  return { manager, view, router: createRouter({ manager, view }) };
}

const [one, other] = [start("agent-1"), start("agent-2")];

// A conversation stays with its prompt cache while the endpoint has capacity.
const request = { candidates: ["eu", "us"], model: "claude", tokens: 1_600, session: "conversation-3" };
const home = one.router.route(request).endpoint;
console.log("at home:", one.router.route(request).reason);

// The other instance fills that endpoint. Both sync once a second by themselves; the example does not wait for it.
while (other.manager.check({ endpoint: home, model: "claude", tokens: 2_000 }).allowed);
await other.view.refresh();
await one.view.refresh();

const { rpm, tpm, utilization, agents } = one.view.get(home, "claude");
console.log({ rpm, tpm, utilization, agents });
const { endpoint, passedOver } = one.router.route(request);
console.log("moved:", endpoint !== home, "because of", passedOver[0]?.why);

// A 429 overrides all counts.
one.router.refused(endpoint, { retryAfterMs: 5_000 });
const nowhere = one.router.route(request);
console.log(nowhere.allowed, nowhere.endpoint === endpoint, (nowhere.retryAfterMs ?? 0) <= 5_000);

await Promise.all([one.view.close(), other.view.close()]);

/* Output:
at home: the session's endpoint has room, 0 % used
{ rpm: 50, tpm: 100000, utilization: 1, agents: 1 }
moved: true because of all instances: 100000 of 100000 tokens
false true true
*/
