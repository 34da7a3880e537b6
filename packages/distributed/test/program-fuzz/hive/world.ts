import { checkIllegal } from "../core/illegal.ts";
import { stable } from "../core/numbers.ts";
import { decodeAll } from "../core/spoken.ts";
import type { Program, World } from "../core/subject.ts";
import { need } from "../core/violation.ts";
import type { Warnings } from "../core/warnings.ts";
import { Always, fingerprint } from "./always.ts";
import { configOf } from "./amounts.ts";
import { Calls } from "./calls.ts";
import { add, burst, cut, drop, outage, partition, reconfigure, restart } from "./changes.ts";
import { end } from "./end.ts";
import { ILLEGAL_CALLS, ILLEGAL_OPERATIONS } from "./illegal-calls.ts";
import { endLease } from "./leases.ts";
import { park } from "./parks.ts";
import type { Ask, Command, Setup } from "./program.ts";
import { Reports } from "./reports.ts";
import { start } from "./start.ts";
import { type Owner, State } from "./state.ts";

/** Real hives in virtual time, with the ledger as their model. */
export class HiveWorld implements World<Command> {
  readonly #state: State;
  readonly #calls: Calls;
  readonly #always: Always;
  readonly #reports: Reports;
  #stopDecoding: () => Promise<void> = async () => {};

  constructor({ setup }: Program<Setup, Command>, warnings: Warnings) {
    this.#state = new State(setup);
    this.#calls = new Calls(this.#state);
    this.#always = new Always(this.#state, warnings);
    this.#reports = new Reports(this.#state);
  }

  async open(): Promise<this> {
    const { setup, owners, broker, clock, late } = this.#state;
    const stopDecoding = await decodeAll(broker, clock, late, (message) => this.#reports.check(message));
    this.#reports.start();
    this.#stopDecoding = async () => {
      this.#reports.stop();
      await stopDecoding();
    };
    for (let i = 0; i < setup.hives; i++) owners.push(await start(this.#state, i));
    await this.#state.pass(3 * (setup.options.heartbeatIntervalMs ?? 1_000));
    return this;
  }

  async run(command: Command): Promise<void> {
    await this.#do(command);
    await this.#state.pass(0);
    this.#calls.settled();
  }

  check(): void {
    this.#always.check();
  }

  async end(): Promise<void> {
    await end(this.#state, this.#stopDecoding);
  }

  async #do(command: Command): Promise<void> {
    const state = this.#state;
    switch (command.do) {
      case "acquire":
        return this.#calls.acquire(state.owner(command.hive), command.ask);
      case "try":
        return void this.#calls.try(state.owner(command.hive), command.ask);
      case "retry":
        return this.#calls.retry(state.owner(command.hive), command.ask);
      case "route":
        return this.#route(state.owner(command.hive), command.ask);
      case "probe":
        return this.#probe(state.owner(command.hive), command.endpoint, command.model);
      case "run":
        return this.#calls.run(state.owner(command.hive), command.ask, command.work);
      case "add":
        this.#always.forgetPauses();
        return add(state, command);
      case "drop":
        this.#always.forgetPauses();
        return drop(state, command);
      case "park":
      case "unpark":
        return park(state, state.owner(command.hive), command);
      case "hold":
        return state.owner(command.hive).hive.pause();
      case "resume":
        return state.owner(command.hive).hive.resume();
      case "done":
      case "failed":
      case "answered":
      case "cancel":
      case "renew":
      case "refused":
        return endLease(state, command);
      case "abort":
        return state.signals.abort(command.signal);
      case "observe":
        return this.#observe(state.owner(command.hive), command);
      case "announce": {
        const { hive, endpoints } = state.owner(command.hive);
        const { endpoint, retryAfterMs } = command;
        const details = retryAfterMs === undefined ? {} : { retryAfterMs };
        if (endpoints.some(({ id }) => id === endpoint)) hive.announceReduced(endpoint, "429", details);
        return;
      }
      case "cuts":
        return cut(state, state.owner(command.hive), command.endpoint, command.count);
      case "burst":
        return burst(state, state.owner(command.hive), command.endpoint, command.count);
      case "reconfigure":
        this.#always.forgetPauses();
        return reconfigure(state, command);
      case "illegal":
        return this.#illegal(state.owner(command.hive), command.call);
      case "listen":
        return this.#listen(state.owner(command.hive), command.how);
      case "restart":
        this.#always.forgetPauses();
        return restart(state, state.owner(command.hive), command.drainMs);
      case "partition":
        return partition(state, state.owner(command.hive), command.forMs);
      case "outage":
        return outage(state, command.forMs);
      case "pass":
        return state.pass(command.ms);
      case "sleep":
        state.disturb();
        state.clock.jump(command.ms);
        state.expire();
        for (const owner of state.owners) owner.demandAt = state.clock.now();
        return state.pass(1);
    }
  }

  #observe({ hive }: Owner, { observation }: Extract<Command, { do: "observe" }>): void {
    const state = this.#state;
    state.disturb();
    state.hasLearned = true;
    for (const observed of Object.values(observation.limits)) {
      const { windowMs = 0 } = observed ?? {};
      if (Number.isFinite(windowMs)) state.longestMs = Math.max(state.longestMs, windowMs);
    }
    this.#always.forgetPauses();
    hive.observe(observation);
  }

  /** Checks a routing decision: it names a configured endpoint and counts nothing. */
  #route(owner: Owner, ask: Ask): void {
    const { endpoint, route, model, key, session, tokens = 1 } = ask;
    const candidates = route ?? [endpoint as string];
    const known = this.#state.targetsOf(owner, ask);
    if (known.length === 0) return;
    const before = stable(owner.hive.status());
    const decision = owner.hive.route({ candidates, model, key, session, tokens });
    const isKnown = known.some(({ id }) => id === decision.endpoint);
    need(isKnown, "reasons", () => `routed to ${decision.endpoint}, which is no candidate`);
    need(before === stable(owner.hive.status()), "conservation", () => "route has counted something");
  }

  /** Checks that an explanation, which is about a call of one token, agrees with the outcome of such a call. */
  #probe(owner: Owner, endpoint: string, model: string | undefined): void {
    const { hive, endpoints } = owner;
    if (!configOf(endpoints, endpoint, model)) return;
    const { freesInMs, limitedBy } = hive.explain(endpoint, model);
    const decision = hive.tryAcquire({ endpoint, model, tokens: 1, inputTokens: 1, outputTokens: 1 });
    decision.lease?.cancel();
    owner.demandAt = this.#state.clock.now();
    if (!this.#state.isJudged) return;
    const said = `explain says ${limitedBy} for ${freesInMs} ms`;
    need(decision.allowed === (freesInMs === 0), "explanations", () => `${said}, and tryAcquire ${decision.limitedBy}`);
    const isSame = decision.allowed || limitedBy === decision.limitedBy;
    need(isSame, "explanations", () => `${said}, and tryAcquire ${decision.limitedBy}`);
    const { retryAfterMs = Infinity } = decision;
    const isSameTime = decision.allowed || freesInMs === retryAfterMs;
    need(isSameTime, "explanations", () => `${said}, and tryAcquire ${retryAfterMs} ms`);
  }

  async #illegal({ hive, endpoints }: Owner, number: number): Promise<void> {
    const known = endpoints[0]?.id;
    const call = [...ILLEGAL_CALLS, ...ILLEGAL_OPERATIONS][number];
    if (known === undefined || !call) return;
    await checkIllegal(
      () => call(hive, known),
      String(call),
      () => fingerprint(hive),
    );
  }

  #listen(owner: Owner, how: "throws" | "reenters" | "ends"): void {
    const { hive } = owner;
    hive.onCapacityChange(({ resource }) => {
      if (how === "throws") throw new Error("a listener that throws");
      if (how === "ends") return this.#state.ending?.cancel();
      hive.status();
      owner.demandAt = this.#state.clock.now();
      hive.tryAcquire({ endpoint: resource, tokens: 1 }).lease?.cancel();
    });
  }
}
