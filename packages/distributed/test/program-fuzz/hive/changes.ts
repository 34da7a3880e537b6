import { limited, nameOf } from "./amounts.ts";
import type { Command } from "./program.ts";
import { start } from "./start.ts";
import type { Owner, State } from "./state.ts";

/** New limits for one hive, or for all of them. */
export function reconfigure(state: State, command: Extract<Command, { do: "reconfigure" }>): void {
  const { endpoints, keys, hive } = command;
  const { owners, ledger } = state;
  state.disturb();
  state.isReconfigured = true;
  const changed = hive === undefined ? owners : [state.owner(hive)];
  for (const owner of changed) {
    if (endpoints) owner.endpoints = limited(endpoints, state.setup.options.mockEndpointTpmThreshold);
    owner.keys = keys ?? owner.keys;
    owner.hive.reconfigure({ ...(endpoints ? { endpoints } : {}), ...(keys ? { keys } : {}) });
  }
  for (const { endpoints: all } of changed) ledger.reconfigured(all, nameOf);
  ledger.forgetRemoved((target) => owners.every((owner) => owner.endpoints.some((each) => nameOf(each) === target)));
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
  if (state.isAlone) await state.pass(2 * state.windowMs + 1);
  else await state.pass(3_000);
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
export function burst({ hive, endpoints }: Owner, endpoint: string, count: number): void {
  if (!endpoints.some(({ id }) => id === endpoint)) return;
  for (let i = 0; i < count; i++) {
    const { lease } = hive.tryAcquire({ endpoint, tokens: 1 });
    if (!lease) return;
    lease.cancel();
  }
}
