import { type MemoryBroker, memoryBroker, memoryBus } from "@hivepace/bus";
import { type ChaosBus, chaosBus } from "@hivepace/bus/testing";
import { type EndpointConfig, isHivepaceError, type KeyLimits, type Lease } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createHive, type Hive } from "../../src/index.ts";
import { CountingSignal } from "./counting-signal.ts";
import { ILLEGAL_CALLS } from "./illegal-calls.ts";
import { Ledger } from "./ledger.ts";
import { checkNumbers, stable } from "./numbers.ts";
import type { Ask, Command, Program } from "./program.ts";

/** What went wrong: a law that a program broke. */
export class Violation extends Error {}

/** A lease that the program holds, as the reference model sees it. */
interface Held {
  readonly lease: Lease;
  readonly owner: Owner;
  readonly entry: ReturnType<Ledger["add"]>;
  readonly ask: Ask;
  expiresAt: number;
  isOpen: boolean;
}

/** A hive of the program, with what the program knows of it. */
interface Owner {
  readonly index: number;
  hive: Hive;
  bus: ChaosBus | undefined;
  endpoints: readonly EndpointConfig[];
  keys: Readonly<Record<string, KeyLimits>>;
  waiting: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DEFAULT_LEASE_MS = 15 * MINUTE;
/** Rounding of sums. */
const EPSILON = 1e-6;
/** What a swarm whose messages arrive may be above a limit for a moment, because two agents decide at once. */
const SWARM_EXCESS = 0.1;

/** Runs one program on real hives in virtual time, and checks the laws after every command. */
export class FuzzWorld {
  readonly #program: Program;
  readonly #clock = new ManualClock({ now: 5_000 });
  readonly #broker: MemoryBroker = memoryBroker();
  readonly #ledger = new Ledger();
  readonly #owners: Owner[] = [];
  readonly #held: Held[] = [];
  #signals = [new CountingSignal(), new CountingSignal(), new CountingSignal()];
  readonly #oldSignals: CountingSignal[] = [];
  /** From here on agents may know less than they should: limits are checked for lone hives only. */
  #isDisturbed: boolean;
  /** Hives that learn different limits hold the smallest. A call that is too large for it waits for the limit to change. */
  #hasLearned = false;
  #unsettled = 0;
  #starts = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#isDisturbed = program.bus === "lossy";
  }

  /** Throws a Violation that says which law was broken and by which command. */
  async run(): Promise<void> {
    const { hives, commands } = this.#program;
    for (let i = 0; i < hives; i++) this.#owners.push(await this.#start(i));
    await this.#pass(3_000);
    for (const [i, command] of commands.entries()) {
      try {
        await this.#run(command);
        this.#check();
      } catch (error) {
        const message = error instanceof Violation ? error.message : `it threw ${(error as Error)?.stack ?? error}`;
        throw new Violation(`command ${i + 1}, ${JSON.stringify(command)}: ${message}`);
      }
    }
    await this.#end();
  }

  async #start(index: number): Promise<Owner> {
    const { bus, endpoints, keys, options, seed, hives } = this.#program;
    const lossy = bus === "lossy" ? ({ drop: 0.1, duplicate: 0.05, delay: [1, 100] } as const) : {};
    const wire =
      bus === "none"
        ? undefined
        : chaosBus(await memoryBus(this.#broker, { clock: this.#clock }), { seed, clock: this.#clock, ...lossy });
    const hive = await createHive({
      ...options,
      endpoints,
      keys,
      clock: this.#clock,
      bus: wire,
      agentId: `hive-${index}-${this.#starts++}`,
      namespace: "fuzz",
      expectedAgents: hives,
    });
    return { index, hive, bus: wire, endpoints, keys, waiting: 0 };
  }

  async #run(command: Command): Promise<void> {
    switch (command.do) {
      case "acquire":
        return this.#acquire(this.#owner(command.hive), command.ask);
      case "try":
        return this.#try(this.#owner(command.hive), command.ask);
      case "done":
      case "cancel":
      case "renew":
      case "refused":
        return this.#endLease(command);
      case "abort":
        this.#signals[command.signal]?.abort(new Error("aborted by the program"));
        this.#oldSignals.push(...this.#signals.splice(command.signal, 1, new CountingSignal()));
        return this.#pass(0);
      case "observe":
        this.#isDisturbed ||= this.#owners.length > 1;
        this.#hasLearned = true;
        this.#owner(command.hive).hive.observe(command.observation);
        return this.#pass(0);
      case "announce": {
        const { hive, endpoints } = this.#owner(command.hive);
        const { endpoint, retryAfterMs } = command;
        if (endpoints.some(({ id }) => id === endpoint))
          hive.announceReduced(endpoint, "429", { ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
        return this.#pass(0);
      }
      case "reconfigure": {
        const { endpoints, keys } = command;
        this.#isDisturbed ||= this.#owners.length > 1;
        const owners = command.hive === undefined ? this.#owners : [this.#owner(command.hive)];
        for (const owner of owners) {
          owner.hive.reconfigure({ ...(endpoints ? { endpoints } : {}), ...(keys ? { keys } : {}) });
          owner.endpoints = endpoints ?? owner.endpoints;
          owner.keys = keys ?? owner.keys;
        }
        for (const { endpoints: all } of owners) this.#ledger.reconfigured(all, nameOf);
        this.#ledger.forgetRemoved((target) =>
          this.#owners.every((owner) => owner.endpoints.some((each) => nameOf(each) === target)),
        );
        return this.#pass(0);
      }
      case "illegal":
        return this.#illegal(this.#owner(command.hive), command.call);
      case "listen":
        return this.#listen(this.#owner(command.hive), command.how);
      case "restart":
        return this.#restart(command.hive);
      case "partition": {
        const { bus } = this.#owner(command.hive);
        this.#isDisturbed = true;
        if (bus) bus.chaos.partition = true;
        await this.#pass(command.forMs);
        if (bus) bus.chaos.partition = false;
        return;
      }
      case "outage":
        this.#isDisturbed = true;
        this.#broker.stop();
        await this.#pass(command.forMs);
        this.#broker.start();
        return;
      case "pass":
        return this.#pass(command.ms);
      case "sleep":
        this.#isDisturbed ||= this.#owners.length > 1;
        this.#clock.jump(command.ms);
        this.#expire();
        return this.#pass(1);
    }
  }

  async #acquire(owner: Owner, ask: Ask): Promise<void> {
    owner.waiting++;
    this.#unsettled++;
    const { hive } = owner;
    const signal = ask.signal === undefined ? undefined : this.#signals[ask.signal];
    const { signal: _, ...request } = ask;
    hive
      .acquire({ ...request, signal })
      .then(
        (lease) => this.#grant(owner, ask, lease),
        (error: unknown) => {
          const isOurs = isHivepaceError(error) || error === signal?.reason;
          if (!isOurs) this.#late ??= new Violation(`acquire rejected with ${String(error)}`);
        },
      )
      .finally(() => {
        owner.waiting--;
        this.#unsettled--;
      });
    await this.#pass(0);
  }

  #late: Violation | undefined;

  async #try(owner: Owner, ask: Ask): Promise<void> {
    const { signal: _, timeoutMs: __, priority: ___, ...request } = ask;
    let decision: ReturnType<Hive["tryAcquire"]>;
    try {
      decision = owner.hive.tryAcquire(request);
    } catch (error) {
      if (isHivepaceError(error, "RESOURCE_UNKNOWN") && !this.#knowsAny(owner, ask)) return;
      throw error;
    }
    if (decision.allowed !== (decision.lease !== undefined))
      throw new Violation("a lease without a grant, or the reverse");
    if (decision.lease) this.#grant(owner, ask, decision.lease);
    else if (decision.reason === undefined || decision.limitedBy === undefined)
      throw new Violation(`a denial without its reason: ${JSON.stringify(decision)}`);
    await this.#pass(0);
  }

  #knowsAny({ endpoints }: Owner, { endpoint, route }: Ask): boolean {
    return endpoints.some(({ id }) => (route ?? [endpoint]).includes(id));
  }

  #grant(owner: Owner, ask: Ask, lease: Lease): void {
    const now = this.#clock.now();
    const config = configOf(owner.endpoints, lease.endpoint, ask.model);
    if (!config) {
      this.#late ??= new Violation(`granted for ${lease.endpoint}, which is not configured`);
      return;
    }
    const { tokens, inputTokens = tokens } = ask;
    const entry = { at: now, target: nameOf(config), key: ask.key, limits: config, requests: 1, tokens, inputTokens };
    this.#ledger.add(entry);
    const { leaseMs = DEFAULT_LEASE_MS, windowMs = MINUTE } = this.#program.options;
    this.#held.push({ lease, owner, entry, ask, expiresAt: now + leaseMs, isOpen: true });
    const isAlone = this.#owners.length === 1;
    if (!isAlone && this.#isDisturbed) return;
    const { ratio, what } = this.#ledger.fullness(entry.target, config, windowMs, now);
    // Without a bound the level recovers to twice the limit.
    const level = this.#program.options.maxRecovery === false ? 2 : 1;
    const most = level + (isAlone ? EPSILON : SWARM_EXCESS);
    if (ratio > most) this.#late ??= new Violation(`granted above a limit of ${entry.target}: ${what}`);
  }

  async #endLease(command: Extract<Command, { lease: number }>): Promise<void> {
    if (this.#held.length === 0) return;
    const held = this.#held[command.lease % this.#held.length] as Held;
    const { lease, entry, ask, owner } = held;
    const wasOpen = held.isOpen;
    const before = wasOpen ? undefined : stable(owner.hive.status());
    const { leaseMs = DEFAULT_LEASE_MS } = this.#program.options;
    switch (command.do) {
      case "renew":
        lease.renew();
        if (wasOpen) held.expiresAt = this.#clock.now() + leaseMs;
        break;
      case "done": {
        const { part } = command;
        held.isOpen = false;
        const used = part === undefined ? undefined : Math.floor(ask.tokens * part);
        lease.done(used === undefined ? undefined : { tokens: used });
        if (wasOpen && used !== undefined) this.#settle(held, used);
        break;
      }
      case "cancel":
        held.isOpen = false;
        lease.cancel();
        if (wasOpen) Object.assign(entry, { requests: 0, tokens: 0, inputTokens: 0 });
        break;
      case "refused": {
        const { retryAfterMs, kind } = command;
        held.isOpen = false;
        lease.refused({ reason: "429", retryAfterMs, kind });
        if (wasOpen) Object.assign(entry, { requests: 0, tokens: 0, inputTokens: 0 });
        break;
      }
    }
    if (before !== undefined && before !== stable(owner.hive.status()))
      throw new Violation("a lease that had ended changed something");
    await this.#pass(0);
  }

  /** Less usage than estimated is given back for the time of the grant; more counts from now on. */
  #settle({ entry, ask }: Held, used: number): void {
    const more = used - ask.tokens;
    if (more <= 0) {
      entry.tokens = used;
      entry.inputTokens = Math.min(entry.inputTokens, used);
      return;
    }
    this.#isDisturbed ||= this.#owners.length > 1;
    const { target, key, limits } = entry;
    this.#ledger.add({ at: this.#clock.now(), target, key, limits, requests: 0, tokens: more, inputTokens: more });
  }

  async #illegal(owner: Owner, call: number): Promise<void> {
    const { hive, endpoints } = owner;
    const known = endpoints[0]?.id;
    if (known === undefined) return;
    const before = stable(hive.status());
    const text = String(ILLEGAL_CALLS[call]);
    try {
      const outcome = ILLEGAL_CALLS[call]?.(hive, known);
      await Promise.resolve(outcome);
    } catch (error) {
      if (!isHivepaceError(error)) throw new Violation(`${text} threw ${String(error)}, which has no code`);
      if (before !== stable(hive.status())) throw new Violation(`${text} was refused, and changed something`);
      return;
    }
    throw new Violation(`${text} was accepted`);
  }

  #listen({ hive }: Owner, how: "throws" | "reenters"): void {
    hive.onCapacityChange(() => {
      if (how === "throws") throw new Error("a listener that throws");
      hive.status();
    });
  }

  async #restart(index: number): Promise<void> {
    const owner = this.#owner(index);
    this.#isDisturbed ||= this.#owners.length > 1;
    const closed = owner.hive.close();
    for (const held of this.#held) if (held.owner === owner) held.isOpen = false;
    await this.#pass(20_000);
    await closed;
    await owner.bus?.close();
    const { hive, bus, endpoints, keys } = await this.#start(owner.index);
    Object.assign(owner, { hive, bus, endpoints, keys });
    // What the old process used is no longer known to a lone hive.
    if (this.#owners.length === 1) await this.#pass(2 * (this.#program.options.windowMs ?? MINUTE) + 1);
    else await this.#pass(3_000);
  }

  #owner(index: number): Owner {
    return this.#owners[index % this.#owners.length] as Owner;
  }

  async #pass(ms: number): Promise<void> {
    await this.#clock.run(ms);
    this.#expire();
    if (this.#late) throw this.#late;
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const held of this.#held) if (held.expiresAt <= now) held.isOpen = false;
  }

  /** The laws that hold at any time. */
  #check(): void {
    for (const owner of this.#owners) {
      const status = owner.hive.status();
      checkNumbers(status, `status of hive ${owner.index}`);
      const open = this.#held.filter((held) => held.owner === owner && held.isOpen).length;
      if (status.leases !== open) throw new Violation(`${status.leases} leases are open, ${open} should be`);
      if (status.waiting !== owner.waiting)
        throw new Violation(`${status.waiting} calls wait, ${owner.waiting} should`);
      const bad = Object.keys(status.ignored).find((reason) => !EXPECTED.has(reason));
      if (bad !== undefined) throw new Violation(`a message of a peer was ignored: ${bad}`);
    }
    for (const signal of this.#signals)
      if (signal.listeners > this.#owners.length) throw new Violation(`${signal.listeners} listeners on one signal`);
  }

  /** Everything ends: calls that fit are served, promises settle, nothing is left. */
  async #end(): Promise<void> {
    this.#broker.start();
    for (const { lease } of this.#held) lease.done();
    for (let waitMs = MINUTE; waitMs < 2 * HOUR && this.#unsettled > 0; waitMs *= 2) {
      await this.#pass(waitMs);
      for (const { lease } of this.#held) lease.done();
    }
    const mayWait = this.#hasLearned && this.#owners.length > 1;
    if (this.#unsettled > 0 && !mayWait)
      throw new Violation(`${this.#unsettled} calls still wait after two hours without load`);
    const closed = Promise.all(this.#owners.map(({ hive }) => hive.close()));
    await this.#clock.run(30_000);
    await closed;
    await Promise.all(this.#owners.map(({ bus }) => bus?.close()));
    await this.#clock.run(1_000);
    if (this.#clock.pending > 0) throw new Violation(`${this.#clock.pending} timers are left`);
    const listeners = [...this.#signals, ...this.#oldSignals].reduce((sum, each) => sum + each.listeners, 0);
    if (listeners > 0) throw new Violation(`${listeners} listeners of signals are left`);
  }
}

/** Reasons for which a message of an honest peer may change nothing. */
const EXPECTED = new Set([
  "stale",
  "left",
  "replayed",
  "unknown pool",
  "unknown resource",
  "other limits",
  "impossible claim",
]);

function configOf(endpoints: readonly EndpointConfig[], id: string, model: string | undefined) {
  return (
    endpoints.find((each) => each.id === id && each.model !== undefined && each.model === model) ??
    endpoints.find((each) => each.id === id && each.model === undefined)
  );
}

function nameOf({ id, model }: EndpointConfig): string {
  return model === undefined ? id : `${id}/${model}`;
}
