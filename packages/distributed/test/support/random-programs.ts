import { type MemoryBroker, type MessageBus, memoryBroker, memoryBus, namespacedBus } from "@hivepace/bus";
import type { Lease, ReducedDetails } from "@hivepace/core";
import { ManualClock, seededRandom } from "@hivepace/core/testing";
import { createDistributedLimiter, createHive, type DistributedLimiter, type Hive } from "../../src/index.ts";
import { decodeCapacity } from "../../src/wire/capacity.ts";
import { decodePresence } from "../../src/wire/presence.ts";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../../src/wire/subjects.ts";

const NAMESPACE = "test";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
/** More cuts than an agent believes at once that it has missed. */
const MANY_CUTS = 1_100;

/** Reasons for which an honest agent's message is never ignored. */
const REJECTED = /^bad |no JSON|newer version|too large|counts went back|more given back than used/;

/** What happened in a program that must not happen. */
interface Outcome {
  readonly messages: number;
  readonly problems: readonly string[];
}

/**
 * A random program over the public API: agents that come and go, ask, are refused, are configured anew, lose their bus and
 * stand still for years. Everything that they publish is decoded. In the end all hear each other again and must agree.
 */
abstract class RandomProgram<Agent> {
  readonly clock = new ManualClock({ now: 5_000 });
  readonly broker: MemoryBroker = memoryBroker();
  readonly agents: Agent[] = [];
  readonly problems = new Set<string>();
  readonly #random: () => number;
  #messages = 0;
  #cuts = 0;
  readonly swarm: ReturnType<typeof swarmOptions>;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.swarm = swarmOptions(this);
  }

  abstract join(bus: MessageBus, id: string): Promise<Agent>;
  abstract act(agent: Agent): void;
  /** Refusals of one thing; `which` chooses it. */
  abstract cut(agent: Agent, which: number, reason: string, details: ReducedDetails): void;
  abstract reconfigure(agent: Agent): void;
  abstract leave(agent: Agent): Promise<void>;
  /** What must hold at any time. */
  abstract check(agent: Agent): void;
  /** What must hold when all have heard each other for a while. */
  abstract checkTogether(): void;

  async run(operations: number): Promise<Outcome> {
    const buses: MessageBus[] = [await this.#listen()];
    const add = async (): Promise<void> => {
      const bus = await memoryBus(this.broker, { clock: this.clock });
      buses.push(bus);
      this.agents.push(await this.join(bus, `agent-${buses.length}`));
    };
    for (let i = 0; i < 2; i++) await add();
    for (let i = 0; i < operations; i++) {
      await this.#operation(add);
      for (const agent of this.agents) this.check(agent);
    }
    this.broker.start();
    await this.pass(15 * this.swarm.heartbeatIntervalMs);
    if (this.agents.length > 0) this.checkTogether();
    const closed = Promise.all(this.agents.map((agent) => this.leave(agent)));
    await this.pass(10_000);
    await closed;
    await Promise.all(buses.map((bus) => bus.close()));
    return { messages: this.#messages, problems: [...this.problems] };
  }

  /** Hears all that is published, whoever else is there. */
  async #listen(): Promise<MessageBus> {
    const bus = namespacedBus(await memoryBus(this.broker, { clock: this.clock }), NAMESPACE);
    const decode = (how: (payload: Uint8Array) => unknown) => (payload: Uint8Array) => {
      this.#messages++;
      try {
        how(payload);
      } catch (error) {
        this.problems.add(`${String(error)} in ${new TextDecoder().decode(payload)}`);
      }
    };
    await bus.subscribe(PRESENCE_SUBJECT, decode(decodePresence));
    await bus.subscribe(CAPACITY_SUBJECT, decode(decodeCapacity));
    return bus;
  }

  async #operation(add: () => Promise<void>): Promise<void> {
    const agent = this.agents.length > 0 ? this.pick(this.agents) : undefined;
    const what = this.pick(OPERATIONS);
    if (what === "join" && this.agents.length < 4) await add();
    else if (what === "pass") await this.pass(this.between(0, 3 * this.swarm.heartbeatIntervalMs));
    else if (what === "hours") await this.pass(Math.min(HOUR_MS, 30 * this.swarm.heartbeatIntervalMs));
    else if (what === "years") {
      this.clock.jump(this.pick([DAY_MS, 40 * DAY_MS, YEAR_MS, 25 * YEAR_MS]));
      await this.pass(3 * this.swarm.heartbeatIntervalMs);
    } else if (what === "outage") {
      this.broker.stop();
      await this.pass(this.between(0, 10 * this.swarm.heartbeatIntervalMs));
      this.broker.start();
    } else if (agent === undefined) return;
    else if (what === "act") for (let i = this.whole(20); i >= 0; i--) this.act(agent);
    else if (what === "cut") this.#cut(agent);
    else if (what === "many cuts") {
      const which = this.whole(2);
      for (let i = 0; i < MANY_CUTS; i++) {
        this.cut(agent, which, `cut ${++this.#cuts}`, {});
        this.clock.advance(0.01);
      }
      await this.pass(1);
    } else if (what === "reconfigure") this.reconfigure(agent);
    else if (what === "leave" && this.agents.length > 1) {
      this.agents.splice(this.agents.indexOf(agent), 1);
      await this.leave(agent);
    }
  }

  #cut(agent: Agent): void {
    const retryAfterMs = this.pick([undefined, undefined, 0.5, 1_000, YEAR_MS]);
    const kind = this.pick([undefined, undefined, "overload"] as const);
    this.cut(agent, this.whole(2), `cut ${++this.#cuts}`, { retryAfterMs, kind });
  }

  pass(ms: number): Promise<void> {
    return this.clock.run(ms);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.whole(values.length)] as T;
  }

  whole(below: number): number {
    return Math.floor(this.#random() * below);
  }

  between(least: number, most: number): number {
    return least + this.#random() * (most - least);
  }

  /** From windows of a millisecond to days. */
  windowMs(): number {
    return this.pick([1, 10, 1_000, 60_000, HOUR_MS, 7 * DAY_MS, this.between(1, 1e6)]);
  }

  limit(): number {
    return this.pick([0.001, 1, 3, 1_000, 1e12, Number.MAX_SAFE_INTEGER, this.between(0, 1e4) + 1e-6]);
  }

  /** Costs that mostly fit. */
  cost(limit: number): number {
    return this.pick([1, limit, limit / 3, limit * this.between(0, 0.1) + Number.MIN_VALUE]);
  }

  isNumber(what: string, value: number | undefined): void {
    if (value !== undefined && !Number.isFinite(value)) this.problems.add(`${what} is ${value}`);
  }

  checkHeard(id: string, ignored: Readonly<Record<string, number>>): void {
    for (const reason of Object.keys(ignored))
      if (REJECTED.test(reason)) this.problems.add(`${id} rejected a message: ${reason}`);
  }

  /** All who speak of the same thing have the same last word about it. */
  checkSame(what: string, words: readonly (string | undefined)[]): void {
    if (new Set(words).size > 1) this.problems.add(`${what} differs: ${words.join(" | ")}`);
  }
}

const OPERATIONS = [
  ...["act", "act", "act", "act", "pass", "pass", "pass", "hours", "years", "cut", "cut", "cut"],
  ...["many cuts", "reconfigure", "reconfigure", "join", "leave", "outage"],
] as const;

/** The same for all agents of a swarm, as options that decide together must be. */
function swarmOptions(program: Pick<RandomProgram<unknown>, "pick" | "between">) {
  return {
    heartbeatIntervalMs: program.pick([100, 1_000, 60_000]),
    maxRecovery: program.pick([true, false]),
    reduceFactor: program.pick([0.5, 0.9, 1e-9, program.between(0.1, 0.99)]),
    ...program.pick([
      { recoveryFactor: 1.1, recoveryIntervalMs: 30_000 },
      { recoveryFactor: 10, recoveryIntervalMs: 0.5 },
      { recoveryFactor: 1.5, recoveryIntervalMs: 700 },
      { recoveryFactor: 1.000_001, recoveryIntervalMs: DAY_MS },
    ]),
    cooldownMs: program.pick([0, 0, 1_000, DAY_MS, undefined]),
    isolation: program.pick(["safe", "balanced", "available"] as const),
    secret: program.pick([undefined, "a secret of enough characters"]),
  };
}

const RESOURCES = ["api", "other"];

/** Programs over `createDistributedLimiter`. */
export class LimiterProgram extends RandomProgram<DistributedLimiter> {
  readonly #usual = [this.limit(), this.windowMs()] as const;
  /** Resources whose limit was another before, by their agent. */
  readonly #changed = new Map<DistributedLimiter, Set<string>>();

  /** Most agents have the same. */
  #capacity(): readonly [capacity: number, windowMs: number] {
    return this.pick([this.#usual, this.#usual, [this.limit(), this.windowMs()]]);
  }

  async join(bus: MessageBus, agentId: string): Promise<DistributedLimiter> {
    const weight = this.pick([1, 1, 1e-3, 1e3]);
    const limiter = await createDistributedLimiter({
      bus,
      agentId,
      clock: this.clock,
      weight,
      namespace: NAMESPACE,
      ...this.swarm,
    });
    for (const resource of RESOURCES) limiter.setCapacity(resource, ...this.#capacity());
    this.#changed.set(limiter, new Set());
    return limiter;
  }

  act(limiter: DistributedLimiter): void {
    const resource = this.pick(RESOURCES);
    const cost = this.cost(limiter.getCapacity(resource)?.configured ?? 1);
    if (this.pick([true, true, false])) limiter.tryAcquire(resource, cost);
    else void limiter.acquire(resource, { cost, timeoutMs: this.between(0, 1e5) }).catch(() => {});
    if (this.pick([true, false])) limiter.finish(resource);
  }

  cut(limiter: DistributedLimiter, which: number, reason: string, details: ReducedDetails): void {
    limiter.announceReduced(RESOURCES[which] as string, reason, details);
  }

  reconfigure(limiter: DistributedLimiter): void {
    const resource = this.pick(RESOURCES);
    const known = limiter.getCapacity(resource);
    this.#changed.get(limiter)?.add(resource);
    const how = this.pick(["limit", "all", "all", "remove"] as const);
    if (how === "limit" && known) limiter.setCapacity(resource, this.limit(), known.windowMs);
    else if (how !== "remove") limiter.setCapacity(resource, ...this.#capacity());
    else limiter.removeResource(resource);
  }

  leave(limiter: DistributedLimiter): Promise<void> {
    return limiter.close();
  }

  check(limiter: DistributedLimiter): void {
    for (const resource of RESOURCES)
      for (const [what, value] of Object.entries(limiter.getCapacity(resource) ?? {}))
        if (typeof value === "number") this.isNumber(`${what} of ${resource}`, value);
  }

  checkTogether(): void {
    const said = new Map<string, (string | undefined)[]>();
    for (const limiter of this.agents) {
      const { ignored, mode, agentId, resources } = limiter.status();
      this.checkHeard(agentId, ignored);
      if (mode === "cut-off" || mode === "listening") this.problems.add(`${agentId} is ${mode} in the end`);
      for (const { resource, cause } of resources) {
        const { configured, windowMs } = limiter.getCapacity(resource) ?? {};
        // Where limits differ, or did, so does what a cut leaves at least.
        if (this.#changed.get(limiter)?.has(resource)) continue;
        const key = `${resource} (${configured} in ${windowMs} ms)`;
        said.set(key, [...(said.get(key) ?? []), cause && `${cause.agentId}: ${cause.reason}`]);
      }
    }
    for (const [key, words] of said) this.checkSame(`the level of ${key}`, words);
  }
}

const ENDPOINTS = ["eu", "us"];
const OBSERVED = ["requests", "tokens", "input_tokens", "output_tokens"] as const;

/** Programs over `createHive`. */
export class HiveProgram extends RandomProgram<Hive> {
  readonly #leases: Lease[] = [];
  readonly #windowMs = this.windowMs();
  readonly #usual = this.limit();
  /** The endpoints of hives that have had no others. */
  readonly #configured = new Map<Hive, ReturnType<HiveProgram["endpoints"]>>();

  async join(bus: MessageBus, agentId: string): Promise<Hive> {
    const endpoints = this.endpoints();
    const options = { bus, agentId, clock: this.clock, namespace: NAMESPACE, windowMs: this.#windowMs, endpoints };
    const hive = await createHive({ ...options, ...this.swarm, leaseMs: this.pick([1_000, DAY_MS]) });
    this.#configured.set(hive, endpoints);
    return hive;
  }

  endpoints() {
    const maybe = () => this.pick([undefined, this.#usual, this.#usual, this.limit()]);
    return ENDPOINTS.map((id) => ({
      id,
      rpmLimit: maybe(),
      tpmLimit: maybe(),
      inputTpmLimit: maybe(),
      outputTpmLimit: maybe(),
    }));
  }

  act(hive: Hive): void {
    const endpoint = this.pick(hive.status().endpoints).endpoint;
    const request = { endpoint, inputTokens: this.cost(100), outputTokens: this.cost(1_000) };
    if (this.pick([true, true, false])) {
      const { lease } = hive.tryAcquire(request);
      if (lease) this.#leases.push(lease);
    } else {
      const timeoutMs = this.between(0, 1e5);
      hive.acquire({ ...request, timeoutMs }).then(
        (lease) => this.#leases.push(lease),
        () => {},
      );
    }
    const lease = this.#leases.splice(this.whole(this.#leases.length), 1)[0];
    const how = this.pick(["done", "used", "used", "cancel", "keep"] as const);
    if (how === "done") lease?.done();
    else if (how === "used") lease?.done({ inputTokens: this.cost(1_000), outputTokens: this.cost(100) });
    else if (how === "cancel") lease?.cancel();
    else if (lease) this.#leases.push(lease);
    if (this.whole(5) === 0) this.#observe(hive, endpoint);
  }

  #observe(hive: Hive, endpoint: string): void {
    const limit = this.limit();
    const remaining = limit * this.between(0, 1);
    const windowMs = this.pick([undefined, undefined, this.windowMs()]);
    hive.observe({ endpoint, limits: { [this.pick(OBSERVED)]: { limit, remaining, windowMs } } });
  }

  cut(hive: Hive, which: number, reason: string, details: ReducedDetails): void {
    hive.announceReduced(ENDPOINTS[which] as string, reason, details);
  }

  reconfigure(hive: Hive): void {
    hive.reconfigure({ endpoints: this.endpoints() });
    this.#configured.delete(hive);
  }

  leave(hive: Hive): Promise<void> {
    return hive.close();
  }

  check(hive: Hive): void {
    for (const { endpoint, limits, level, freesInMs } of hive.status().endpoints) {
      this.isNumber(`the level of ${endpoint}`, level);
      if (Number.isNaN(freesInMs)) this.problems.add(`freesInMs of ${endpoint} is NaN`);
      for (const limit of limits)
        for (const [what, value] of Object.entries(limit))
          if (typeof value === "number") this.isNumber(`${what} of ${endpoint} ${limit.dimension}`, value);
    }
  }

  checkTogether(): void {
    const said = new Map<string, (string | undefined)[]>();
    for (const hive of this.agents) {
      const { ignored, mode, agentId, endpoints } = hive.status();
      this.checkHeard(agentId, ignored);
      if (mode === "cut-off" || mode === "listening") this.problems.add(`${agentId} is ${mode} in the end`);
      for (const { endpoint, cause } of endpoints) {
        const rpmLimit = this.#configured.get(hive)?.find(({ id }) => id === endpoint)?.rpmLimit;
        // Where limits differ, or did, so does what a cut leaves at least. Less than one request is not shared.
        if (rpmLimit === undefined || rpmLimit < 1 || rpmLimit > 1e9) continue;
        const key = `${endpoint} (${rpmLimit} requests)`;
        said.set(key, [...(said.get(key) ?? []), cause && `${cause.agentId}: ${cause.reason}`]);
      }
    }
    for (const [key, words] of said) this.checkSame(`the level of ${key}`, words);
  }
}
