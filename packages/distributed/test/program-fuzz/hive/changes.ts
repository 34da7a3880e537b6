import type { HiveEndpoint } from "../../../src/index.ts";
import { need } from "../core/violation.ts";
import { limited, modelsOf, nameOf } from "./amounts.ts";
import type { Command } from "./program.ts";
import { start } from "./start.ts";
import type { Owner, State } from "./state.ts";

/** New limits for one hive, or for all of them. */
export function reconfigure(state: State, command: Extract<Command, { do: "reconfigure" }>): void {
  const { endpoints, keys } = command;
  const changed = changedOwners(state, command);
  for (const owner of changed) {
    if (endpoints) owner.endpoints = limited(endpoints, state.setup.options.mockEndpointTpmThreshold);
    owner.keys = keys ?? owner.keys;
    owner.hive.reconfigure({ ...(endpoints ? { endpoints } : {}), ...(keys ? { keys } : {}) });
  }
  noteChanged(state, changed);
}

/** Adds one endpoint, or changes its limits. A model or pool takes its models from the pools that had them. */
export function add(state: State, command: Extract<Command, { do: "add" }>): void {
  const { endpoint } = command;
  const changed = changedOwners(state, command);
  for (const owner of changed) {
    const models = modelsOf(endpoint);
    const others = models.length === 0 ? withoutWhole(owner, endpoint.id) : without(owner, endpoint.id, models);
    owner.endpoints = [...others, ...limited([endpoint], state.setup.options.mockEndpointTpmThreshold)];
    owner.hive.addEndpoint(endpoint);
  }
  noteChanged(state, changed);
}

/** Removes one endpoint with its models, or one of its models. */
export function drop(state: State, command: Extract<Command, { do: "drop" }>): void {
  const { endpoint: id, model } = command;
  const changed = changedOwners(state, command);
  for (const owner of changed) {
    const { length } = owner.endpoints.filter((each) => each.id === id && (model === undefined || has(each, model)));
    owner.endpoints =
      model === undefined ? owner.endpoints.filter((each) => each.id !== id) : without(owner, id, [model]);
    const isRemoved = owner.hive.removeEndpoint(id, model);
    need(isRemoved === length > 0, "conservation", () => `removeEndpoint said ${isRemoved} for ${id} ${model}`);
  }
  noteChanged(state, changed);
}

function changedOwners(state: State, { hive }: { readonly hive?: number }): readonly Owner[] {
  state.disturb();
  state.isReconfigured = true;
  return hive === undefined ? state.owners : [state.owner(hive)];
}

function noteChanged({ owners, ledger }: State, changed: readonly Owner[]): void {
  for (const { endpoints: all } of changed) ledger.reconfigured(all, nameOf);
  ledger.forgetRemoved((target) => owners.every((owner) => owner.endpoints.some((each) => nameOf(each) === target)));
}

function has(config: HiveEndpoint, model: string): boolean {
  return modelsOf(config).includes(model);
}

function withoutWhole({ endpoints }: Owner, id: string): HiveEndpoint[] {
  return endpoints.filter((each) => each.id !== id || modelsOf(each).length > 0);
}

/** The endpoints without these models of one of them. A pool keeps its other models. */
function without({ endpoints }: Owner, id: string, models: readonly string[]): HiveEndpoint[] {
  return endpoints.flatMap((each) => {
    const left = modelsOf(each).filter((model) => !models.includes(model));
    if (each.id !== id || left.length === modelsOf(each).length) return [each];
    return left.length === 0 ? [] : [{ ...each, models: left }];
  });
}

/** Closes a hive, and starts another one in its place. */
export async function restart(state: State, owner: Owner, drainMs: number | undefined): Promise<void> {
  state.disturb();
  const { hive, bus } = owner;
  owner.isClosing = true;
  const closed = hive.close(drainMs === undefined ? {} : { drainMs });
  await state.pass(20_000);
  await closed;
  for (const held of state.held) if (held.owner === owner) held.isOpen = false;
  await bus?.close();
  const { waiting: _, ...fresh } = await start(state, owner.index);
  Object.assign(owner, fresh);
  // A lone hive does not know the usage of its predecessor, which first has to leave the window.
  if (state.isAlone) {
    state.parkedUntil.clear();
    await state.pass(2 * state.windowMs + 1);
  } else await state.pass(3_000);
}

/** Isolates a hive from the bus for a while. */
export async function partition(state: State, { bus }: Owner, forMs: number): Promise<void> {
  state.isDisturbed = true;
  if (bus) bus.chaos.partition = true;
  await state.pass(forMs);
  if (bus) bus.chaos.partition = false;
}

/** Stops the broker for a while. */
export async function outage(state: State, forMs: number): Promise<void> {
  state.isDisturbed = true;
  state.broker.stop();
  await state.pass(forMs);
  state.broker.start();
}

/** Announces several refusals in quick succession. */
export async function cut(state: State, { hive, endpoints }: Owner, endpoint: string, count: number): Promise<void> {
  if (!endpoints.some(({ id }) => id === endpoint)) return;
  for (let i = 0; i < count; i++) {
    hive.announceReduced(endpoint, `429 number ${i}`);
    state.clock.advance(0.01);
  }
  await state.pass(1);
}

/** Makes calls that are cancelled at once. They cost nothing, and must leave nothing behind. */
export function burst({ clock }: State, owner: Owner, endpoint: string, count: number): void {
  const { hive, endpoints } = owner;
  if (!endpoints.some(({ id }) => id === endpoint)) return;
  owner.demandAt = clock.now();
  for (let i = 0; i < count; i++) {
    const { lease } = hive.tryAcquire({ endpoint, tokens: 1 });
    if (!lease) return;
    lease.cancel();
  }
}
