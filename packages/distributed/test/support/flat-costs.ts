import type { BusState, MessageBus, MessageHandler, Subscription } from "@hivepace/bus";
import { ManualClock } from "@hivepace/core/testing";
import { createHive, type Hive } from "@hivepace/distributed";

/**
 * Situations whose cost must follow what changes and not what exists: hives with many endpoints, agents, waiters and
 * keys, on a manual clock that stands still while something is measured. Used by the bench and by `verify`.
 */

const HEARTBEAT_MS = 1_000;
const PRESENCE = "ratelimit.presence";
/** Endpoints that one message of another agent reports on. */
const REPORTED = 5;
const LIMITS = { rpmLimit: 1_000, tpmLimit: 1_000_000 };
/** Limits that no measurement reaches. Larger ones would be no limits, which agents do not share. */
const UNREACHED = { rpmLimit: 1e7, tpmLimit: 4e9 };
const FULL = { rpmLimit: 1, tpmLimit: 1_000_000 };

/** An operation that is repeated to be measured. */
export interface Situation {
  readonly once: () => void;
  readonly close: () => Promise<void>;
}

/** A bus with one real agent; the messages of the others are made up by {@link CrowdedBus.speak}. */
class CrowdedBus implements MessageBus {
  readonly name = "crowded";
  readonly supports = {
    delivery: "at-most-once",
    ordering: "per-publisher",
    echo: true,
    replay: false,
    maxPayloadBytes: 1_048_576,
  } as const;
  readonly state: BusState = "ready";
  readonly #handlers = new Map<string, MessageHandler>();
  readonly #said: { seq: number; sent: number }[] = [];
  /** Bytes of the agent's own messages. */
  publishedBytes = 0;

  async publish(subject: string, payload: Uint8Array): Promise<void> {
    this.publishedBytes += payload.length;
    queueMicrotask(() => this.#handlers.get(subject)?.(payload));
  }

  async subscribe(subject: string, handler: MessageHandler): Promise<Subscription> {
    this.#handlers.set(subject, handler);
    const unsubscribe = async () => void this.#handlers.delete(subject);
    return { unsubscribe, [Symbol.asyncDispose]: unsubscribe };
  }

  onState(): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    this.#handlers.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Delivers a message of another agent, which has made one more call to some of the endpoints. */
  speak(agent: number, endpoints: number, upMs: number, limits = LIMITS): void {
    this.#said[agent] ??= { seq: 0, sent: 0 };
    const said = this.#said[agent];
    said.seq++;
    said.sent++;
    const pools = Array.from({ length: endpoints }, (_, i) => ({
      resource: `endpoint-${i}`,
      window_ms: 60_000,
      limits: [limits.rpmLimit, limits.tpmLimit],
      sent: [said.sent, said.sent],
      used: [said.sent, said.sent],
      bins: [[said.sent, said.sent]],
      turn: 0,
    }));
    const head = { v: 1, agent_id: `peer-${agent}`, life: 1, seq: said.seq, up_ms: upMs, next_ms: 10_000 };
    const message = { ...head, weight: 1, members: this.#said.length, pools };
    const payload = new TextEncoder().encode(JSON.stringify(message));
    // The namespace comes before the subject.
    for (const [subject, handler] of this.#handlers) if (subject.endsWith(PRESENCE)) handler(payload);
  }
}

interface Crowd {
  readonly hive: Hive;
  readonly bus: CrowdedBus;
  readonly clock: ManualClock;
}

/** A hive that has joined a swarm. Each agent has reported on `reported` endpoints. */
async function crowd(
  endpoints: number,
  agents: number,
  limits: { readonly rpmLimit: number; readonly tpmLimit: number } = LIMITS,
  reported = REPORTED,
): Promise<Crowd> {
  const clock = new ManualClock();
  const bus = new CrowdedBus();
  const hive = await createHive({
    bus,
    clock,
    namespace: "flat-costs",
    agentId: "measured",
    heartbeatIntervalMs: HEARTBEAT_MS,
    endpoints: Array.from({ length: endpoints }, (_, i) => ({ id: `endpoint-${i}`, ...limits })),
  });
  for (let seconds = 1; seconds <= 5; seconds++) {
    for (let agent = 0; agent < agents - 1; agent++)
      bus.speak(agent, Math.min(reported, endpoints), 100_000 + seconds * HEARTBEAT_MS, limits);
    await clock.run(HEARTBEAT_MS);
  }
  const { mode, members } = hive.status();
  if (mode !== "member" || members !== agents) throw new Error(`the hive is ${mode} of ${members} agents`);
  return { hive, bus, clock };
}

/** A call to one endpoint of `endpoints`, from its decision to its end with a corrected usage. */
export async function calling(endpoints: number): Promise<Situation> {
  const { hive } = await crowd(endpoints, 2, UNREACHED);
  const request = { endpoint: "endpoint-0", tokens: 100 };
  const used = { tokens: 80 };
  const once = () => {
    const { lease } = hive.tryAcquire(request);
    if (!lease) throw new Error("a call was denied that should not be");
    lease.done(used);
  };
  return { once, close: () => hive.close() };
}

/** Hears a message on five endpoints, of `endpoints`. */
export async function hearing(endpoints: number): Promise<Situation> {
  const { hive, bus } = await crowd(endpoints, 2);
  return { once: () => bus.speak(0, REPORTED, 200_000), close: () => hive.close() };
}

/** A call that has to wait, in a swarm of `agents`: it joins the queue and is aborted. */
export async function queueing(agents: number): Promise<Situation> {
  const { hive } = await crowd(1, agents, { rpmLimit: 100, tpmLimit: 1_000_000 });
  while (hive.tryAcquire({ endpoint: "endpoint-0", tokens: 1 }).allowed);
  const waits = new AbortController();
  void hive.acquire({ endpoint: "endpoint-0", tokens: 1, signal: waits.signal }).catch(() => {});
  const once = () => {
    const abort = new AbortController();
    hive.acquire({ endpoint: "endpoint-0", tokens: 1, signal: abort.signal }).catch(() => {});
    abort.abort();
  };
  return {
    once,
    close: async () => {
      waits.abort();
      await hive.close();
    },
  };
}

/** Mean bytes of a heartbeat a while after calls to all endpoints, while one of them goes on being used. */
export async function heartbeatBytes(endpoints: number): Promise<number> {
  const seconds = 10;
  const { hive, bus, clock } = await crowd(endpoints, 2);
  const call = (i: number) => hive.tryAcquire({ endpoint: `endpoint-${i}`, tokens: 100 }).lease?.done();
  for (let i = 0; i < endpoints; i++) call(i);
  let before = 0;
  for (let second = -5; second < seconds; second++) {
    if (second === 0) before = bus.publishedBytes;
    call(0);
    bus.speak(0, 1, 200_000 + second * HEARTBEAT_MS);
    await clock.run(HEARTBEAT_MS);
  }
  const bytes = (bus.publishedBytes - before) / seconds;
  await hive.close();
  return bytes;
}

/** Reads the status of a hive with many endpoints in a swarm; each agent has reported on all endpoints. */
export async function reading(endpoints: number, agents: number): Promise<Situation> {
  const { hive } = await crowd(endpoints, agents, LIMITS, endpoints);
  return { once: () => void hive.status(), close: () => hive.close() };
}

/** Tries a route over all endpoints, which are full or free. */
export async function routing(endpoints: number, isFull: boolean): Promise<Situation> {
  const clock = new ManualClock();
  const route = Array.from({ length: endpoints }, (_, i) => `endpoint-${i}`);
  const hive = await createHive({
    clock,
    namespace: "flat-costs",
    endpoints: route.map((id) => ({ id, ...(isFull ? FULL : UNREACHED) })),
  });
  if (isFull) for (const endpoint of route) hive.tryAcquire({ endpoint, tokens: 1 });
  const request = { route, tokens: 1 };
  const once = () => {
    const { lease } = hive.tryAcquire(request);
    if ((lease === undefined) !== isFull) throw new Error(`the route ${isFull ? "has" : "lacks"} capacity`);
    lease?.done();
  };
  return { once, close: () => hive.close() };
}

/** The keys of waiters: none, a key each, or a key each that is limited and used up. */
export type WaiterKeys = "none" | "each" | "limited";

/** Callers that wait for one endpoint. */
export class Waiters {
  readonly #hive: Hive;
  readonly #keys: WaiterKeys;
  #aborts: AbortController[] = [];

  private constructor(hive: Hive, keys: WaiterKeys) {
    this.#hive = hive;
    this.#keys = keys;
  }

  static async with(count: number, keys: WaiterKeys): Promise<Waiters> {
    const clock = new ManualClock();
    const hive = await createHive({
      clock,
      namespace: "flat-costs",
      maxQueue: count,
      endpoints: [{ id: "endpoint-0", ...(keys === "limited" ? UNREACHED : FULL) }],
      ...(keys === "limited" ? { limitsForKey: () => ({ rpmLimit: 1 }) } : {}),
    });
    const waiters = new Waiters(hive, keys);
    for (let i = 0; i < (keys === "limited" ? count : 1); i++) hive.tryAcquire(waiters.#request(i));
    return waiters;
  }

  /** Lets callers join the queue. */
  join(count: number): void {
    this.#aborts = Array.from({ length: count }, () => new AbortController());
    for (let i = 0; i < count; i++) {
      const { signal } = this.#aborts[i] as AbortController;
      this.#hive.acquire({ ...this.#request(i), signal }).catch(() => {});
    }
    if (this.#hive.status().waiting !== count) throw new Error("some callers do not wait");
  }

  /** Aborts all waits, one after the other. */
  abort(): void {
    for (const abort of this.#aborts) abort.abort();
    if (this.#hive.status().waiting !== 0) throw new Error("some callers still wait");
  }

  close(): Promise<void> {
    return this.#hive.close();
  }

  #request(i: number) {
    return { endpoint: "endpoint-0", tokens: 1, ...(this.#keys === "none" ? {} : { key: `key-${i}` }) };
  }
}

/**
 * Processor time of the fastest of several runs, in milliseconds. Other work on the machine does not count, and can only
 * make a run slower.
 */
export function fastestOf(runs: number, work: () => void): number {
  let fastest = Infinity;
  for (let run = 0; run < runs; run++) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    fastest = Math.min(fastest, (user + system) / 1_000);
  }
  return fastest;
}

/** Processor time of one call, in microseconds: of the fastest of several batches. */
export function microsecondsOf({ once }: Situation, batch: number, runs: number): number {
  const ms = fastestOf(runs, () => {
    for (let i = 0; i < batch; i++) once();
  });
  return (ms * 1_000) / batch;
}
