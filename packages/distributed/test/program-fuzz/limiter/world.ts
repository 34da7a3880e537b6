import { isHivepaceError } from "@hivepace/core";
import { checkIllegal } from "../core/illegal.ts";
import { ILLEGAL_CALLS } from "../core/illegal-limiter-calls.ts";
import { stable } from "../core/numbers.ts";
import { checkRejection } from "../core/promises.ts";
import { decodeAll } from "../core/spoken.ts";
import type { Program, World } from "../core/subject.ts";
import { need } from "../core/violation.ts";
import { end } from "./end.ts";
import { checkAlways, checkGranted, checkKept, checkNotOvertaken, checkReports, sharesOf } from "./laws.ts";
import type { Command, Setup } from "./program.ts";
import { type Agent, type Call, type Resource, State } from "./state.ts";

/** Real limiters in virtual time, with a list of all grants as their model. */
export class LimiterWorld implements World<Command> {
  readonly #state: State;
  /** Grants of the present command. Their order is checked after all promises have settled. */
  #granted: Call[] = [];
  #stopDecoding: () => Promise<void> = async () => {};

  constructor({ setup }: Program<Setup, Command>) {
    this.#state = new State(setup);
  }

  async open(): Promise<this> {
    const { setup, agents, broker, clock, late } = this.#state;
    this.#stopDecoding = await decodeAll(broker, clock, late, (message) => checkReports(this.#state, message));
    for (let i = 0; i < setup.agents; i++) agents.push(await this.#state.start(i));
    for (const agent of agents) for (const limit of setup.resources) this.#state.set(agent, limit);
    await this.#state.pass(3 * (setup.options.heartbeatIntervalMs ?? 1_000));
    return this;
  }

  async run(command: Command): Promise<void> {
    await this.#do(command);
    await this.#state.pass(0);
    for (const call of this.#granted) checkNotOvertaken(call);
    this.#granted = [];
  }

  check(): void {
    checkAlways(this.#state);
  }

  end(): Promise<void> {
    return end(this.#state, this.#stopDecoding);
  }

  async #do(command: Command): Promise<void> {
    const state = this.#state;
    switch (command.do) {
      case "acquire":
      case "run":
        return this.#acquire(state.agent(command.agent), command);
      case "try":
        return this.#try(state.agent(command.agent), command.resource, command.cost, command.times);
      case "release":
      case "finish": {
        const { limiter, resources } = state.agent(command.agent);
        const resource = resources.get(command.resource);
        if (resource && resource.inFlight > 0) resource.inFlight--;
        if (command.do === "finish") limiter.finish(command.resource);
        else {
          state.isReleased = true;
          limiter.release(command.resource, command.cost);
        }
        return;
      }
      case "set":
        return this.#set(command);
      case "remove":
        return this.#remove(command.agent, command.resource);
      case "announce":
        return this.#announce(command);
      case "abort":
        return state.signals.abort(command.signal);
      case "listen":
        return this.#listen(state.agent(command.agent), command.how);
      case "illegal": {
        const { limiter } = state.agent(command.agent);
        const call = ILLEGAL_CALLS[command.call] as (typeof ILLEGAL_CALLS)[number];
        return checkIllegal(
          () => call(limiter),
          String(call),
          () => stable(limiter.status()),
        );
      }
      case "restart":
        return this.#restart(state.agent(command.agent));
      case "partition": {
        const { bus } = state.agent(command.agent);
        state.isDisturbed = true;
        bus.chaos.partition = true;
        await state.pass(command.forMs);
        bus.chaos.partition = false;
        state.disturbedAt = state.clock.now();
        return;
      }
      case "outage": {
        const before = sharesOf(state);
        state.isDisturbed = true;
        state.broker.stop();
        await state.pass(command.forMs);
        checkKept(state, before);
        state.disturbedAt = state.clock.now();
        state.broker.start();
        return;
      }
      case "pass":
        return state.pass(command.ms);
      case "sleep":
        if (!state.isAlone) state.isDisturbed = true;
        state.clock.jump(command.ms);
        state.disturbedAt = state.clock.now();
        return state.pass(1);
    }
  }

  #acquire(agent: Agent, { resource: name, options, do: how }: Extract<Command, { do: "acquire" | "run" }>): void {
    const state = this.#state;
    const { limiter } = agent;
    const resource = agent.resources.get(name) ?? newResource(name);
    const call: Call = { agent, resource, options, order: state.order++ };
    const signal = options.signal === undefined ? undefined : state.signals.get(options.signal);
    resource.waiting.add(call);
    state.unsettled++;
    const grant = (): void => {
      resource.waiting.delete(call);
      state.unsettled--;
      resource.inFlight++;
      this.#granted.push(call);
      state.late.guard(() => checkGranted(state, call));
    };
    const refuse = (error: unknown): void => {
      resource.waiting.delete(call);
      state.unsettled--;
      state.late.guard(() => this.#rejected(call, error, signal?.reason));
    };
    const given = { ...options, signal };
    if (how === "acquire") return void limiter.acquire(name, given).then(grant, refuse);
    const work = async (): Promise<void> => {
      grant();
      await Promise.resolve();
      resource.inFlight--;
    };
    limiter.run(name, work, given).catch(refuse);
  }

  #rejected({ agent, resource, options }: Call, error: unknown, reason: unknown): void {
    checkRejection(error, reason, "acquire");
    const { setup } = this.#state;
    const isKnown = agent.resources.get(resource.name) === resource;
    if (isHivepaceError(error, "RESOURCE_UNKNOWN"))
      need(!isKnown, "reasons", () => `unknown, though ${resource.name} is set`);
    if (!isHivepaceError(error, "CAPACITY_EXHAUSTED")) return;
    const { cost = 1 } = options;
    const { maxQueue = Infinity } = setup.options;
    if (error.reason === "queue-full")
      need(resource.waiting.size >= maxQueue, "reasons", () => `queue-full, and ${resource.waiting.size} wait`);
    const isJudged = error.reason === "too-large" && !this.#state.changed.has(resource.name) && !setup.isExtreme;
    const { capacity } = resource.limit;
    const isAbove = cost > Math.max(1, capacity) * (this.#state.isAlone ? 1 : 0.9);
    need(!isJudged || isAbove, "reasons", () => `too large, ${cost} of ${capacity}`);
    const { retryAfterMs = 0 } = error;
    need(retryAfterMs >= 0, "retry", () => `retryAfterMs of the error is ${retryAfterMs}`);
  }

  #try(agent: Agent, name: string, cost: number | undefined, times: number): void {
    const state = this.#state;
    const resource = agent.resources.get(name);
    for (let i = 0; i < times; i++) {
      const isGranted = agent.limiter.tryAcquire(name, cost);
      if (!isGranted) return;
      need(resource !== undefined, "limit", () => `${name} is not set and was granted`);
      if (!resource) return;
      resource.inFlight++;
      const options = cost === undefined ? {} : { cost };
      const call: Call = { agent, resource, options, order: state.order++ };
      this.#granted.push(call);
      checkGranted(state, call);
    }
  }

  #set({ do: _, agent: index, ...limit }: Extract<Command, { do: "set" }>): void {
    const state = this.#state;
    const { resource: name } = limit;
    // The smallest limit of all agents applies, and a change at one agent makes them differ.
    if (index !== undefined && !state.isAlone) state.isDisturbed = true;
    state.setAgain.add(name);
    state.changed.add(name);
    for (const agent of state.those(index)) state.set(agent, limit);
  }

  #remove(index: number | undefined, name: string): void {
    const state = this.#state;
    // After a removal, the usage of that agent is known only through agents that still have the resource.
    if (!state.isAlone) state.isDisturbed = true;
    state.changed.add(name);
    for (const { limiter, resources } of state.those(index)) {
      const isKnown = resources.delete(name);
      const isRemoved = limiter.removeResource(name);
      need(isKnown === isRemoved, "conservation", () => `removeResource said ${isRemoved}`);
      state.removedAt.set(`${limiter.agentId} ${name}`, state.clock.now());
    }
    if (state.isAlone)
      for (const grant of state.grants.splice(0)) if (grant.resource !== name) state.grants.push(grant);
  }

  async #announce(command: Extract<Command, { do: "announce" }>): Promise<void> {
    const { agent, resource, count, retryAfterMs, kind } = command;
    const state = this.#state;
    const { limiter } = state.agent(agent);
    for (let i = 0; i < count; i++) {
      limiter.announceReduced(resource, `429 number ${state.order++}`, { retryAfterMs, kind });
      if (count > 1) state.clock.advance(0.01);
    }
    if (count > 1) await state.pass(1);
  }

  #listen({ limiter }: Agent, how: "throws" | "reenters"): void {
    limiter.onCapacityChange(() => {
      if (how === "throws") throw new Error("a listener that throws");
      limiter.status();
      limiter.tryAcquire("nowhere");
    });
  }

  async #restart(agent: Agent): Promise<void> {
    const state = this.#state;
    if (!state.isAlone) state.isDisturbed = true;
    const limits = [...agent.resources.values()].map(({ limit }) => limit);
    agent.resources.clear();
    await Promise.all([agent.limiter.close(), state.pass(20_000)]);
    await agent.bus.close();
    const { limiter, bus } = await state.start(agent.index);
    Object.assign(agent, { limiter, bus, startedAt: state.clock.now() });
    for (const limit of limits) state.set(agent, limit);
    state.disturbedAt = state.clock.now();
    await state.pass(3_000);
  }
}

/** A placeholder for a resource that the agent does not have. */
function newResource(name: string): Resource {
  const limit = { resource: name, capacity: 1, windowMs: 1 };
  return { name, limit, setAt: 0, windowSetAt: -Infinity, grantsBefore: 0, inFlight: 0, waiting: new Set() };
}
