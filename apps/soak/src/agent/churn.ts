import { createDistributedLimiter, createHive, type Hive, type HiveOptions, observeSwarm } from "@hivepace/distributed";
import { openBus, openStore } from "./bus.ts";
import { type Colony, NAMESPACE, PROVIDER, SECRET } from "./colony.ts";

const RESOURCES = 20;
const SUBJECTS = 10;
const SHORT_MS = 30;

/** Opens, uses and closes every kind of resource once, in a process that keeps running. */
export async function churn(colony: Colony, round: number): Promise<void> {
  const { task, bus, store } = colony;
  const name = `churn-${task.agentId}-${round}`;
  await useHive(colony, { bus: openBus(task), sync: openStore(task), agentId: `${name}-own` });
  await useHive(colony, { bus, sync: store, agentId: `${name}-lent` });
  await useHive(colony, { bus, sync: store, agentId: `${name}-observing`, mode: "observe" });
  await useLimiter(colony, `${name}-limiter`);
  await observe(colony);
  await subscribe(colony, round);
  useMoreEndpoints(colony, round);
}

/** Uses a temporary hive, and closes it with an open lease and a waiting request. */
async function useHive({ task, life }: Colony, options: Partial<HiveOptions>): Promise<void> {
  const hive = await createHive({
    ...options,
    namespace: `${NAMESPACE}-churn-${task.agentId}`,
    endpoints: [
      { id: "eu", rpmLimit: 5, tpmLimit: 1_000 },
      { id: "us", rpmLimit: 5 },
    ],
    limitsForKey: () => ({ rpmLimit: 2 }),
    windowMs: task.windowMs,
  });
  const leave = hive.onCapacityChange(() => {});
  for (let i = 0; i < RESOURCES; i++)
    hive.tryAcquire({ endpoint: "eu", key: `key-${i}`, tokens: 1 }).lease?.done({ tokens: 2 });
  await wait(hive, life.signal);
  hive.observe({ endpoint: "us", limits: { tokens: { limit: 100, remaining: 50 } } });
  hive.announceReduced("eu", "429 in the churn", { retryAfterMs: 5 });
  leave();
  hive.tryAcquire({ endpoint: "us" });
  const late = hive.acquire({ endpoint: "eu", tokens: 1, signal: life.signal }).catch(() => {});
  await hive.close({ drainMs: SHORT_MS });
  await late;
}

/** Requests that end by timeout or by abort, on signals that outlive them. */
async function wait(hive: Hive, signal: AbortSignal): Promise<void> {
  const own = new AbortController();
  const waits = [
    hive.acquire({ endpoint: "eu", tokens: 1, signal, timeoutMs: SHORT_MS }),
    hive.acquire({ route: ["eu", "us"], tokens: 1, session: "s", signal, timeoutMs: SHORT_MS }),
    hive.acquire({ endpoint: "eu", tokens: 1, signal: AbortSignal.any([signal, own.signal]) }),
  ];
  setTimeout(() => own.abort(), SHORT_MS);
  for (const one of await Promise.allSettled(waits)) if (one.status === "fulfilled") one.value.cancel();
}

async function useLimiter({ bus, limiter: long, life, task }: Colony, agentId: string): Promise<void> {
  const limiter = await createDistributedLimiter({ bus, agentId, namespace: `${NAMESPACE}-${agentId}` });
  for (const one of [limiter, long])
    for (let i = 0; i < RESOURCES; i++) {
      const resource = `${agentId}-${i}`;
      one.setCapacity(resource, 1, task.windowMs);
      one.tryAcquire(resource);
      const late = one.acquire(resource, { signal: life.signal, timeoutMs: 5 }).catch(() => {});
      if (i % 4 === 0) await late;
      one.removeResource(resource);
    }
  await limiter.close();
}

async function observe({ bus, task }: Colony): Promise<void> {
  for (const source of [bus, openBus(task)]) {
    const observer = await observeSwarm({ bus: source, namespace: NAMESPACE, secret: SECRET });
    observer.onEvent(() => {});
    observer.snapshot();
    await observer.close();
  }
}

async function subscribe({ bus }: Colony, round: number): Promise<void> {
  for (let i = 0; i < SUBJECTS; i++) {
    const subscription = await bus.subscribe(`churn.${round}.${i}`, () => {});
    await bus.publish(`churn.${round}.${i}`, new Uint8Array(10));
    await subscription.unsubscribe();
  }
}

/** Adds and removes endpoints of the long-lived hive. */
function useMoreEndpoints({ hive, task }: Colony, round: number): void {
  const kept = { id: PROVIDER, rpmLimit: task.capacity };
  const more = Array.from({ length: RESOURCES }, (_, i) => ({ id: `extra-${round}-${i}`, rpmLimit: 10 }));
  hive.reconfigure({ endpoints: [kept, ...more] });
  for (const { id } of more) hive.tryAcquire({ endpoint: id, key: `extra-${round}`, tokens: 1 }).lease?.done();
  hive.reconfigure({ endpoints: [kept] });
}
