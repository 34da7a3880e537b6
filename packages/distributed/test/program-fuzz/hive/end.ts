import { isHivepaceError } from "@hivepace/core";
import { need } from "../core/violation.ts";
import { nameOf } from "./amounts.ts";
import { HOUR, MINUTE, type State } from "./state.ts";

/** Ends a program: calls that fit are granted, agents agree, promises settle, and nothing is left over. */
export async function end(state: State, stopDecoding: () => Promise<void>): Promise<void> {
  const { broker, clock, owners, setup, signals } = state;
  broker.start();
  for (const { hive } of owners) hive.resume();
  openAll(state);
  // With extreme numbers, calls may have to wait for years; such programs skip the check.
  const longestMs = setup.isExtreme ? 2 * HOUR : Math.max(2 * HOUR, 6 * state.longestMs);
  for (let waitMs = MINUTE; waitMs < longestMs && state.unsettled > 0; waitMs *= 2) {
    await state.pass(waitMs);
    openAll(state);
  }
  const isServed = state.unsettled === 0 || setup.isExtreme === true;
  need(isServed, "liveness", () => `${state.unsettled} calls still wait after ${longestMs} ms without load`);
  if (setup.bus === "perfect") await checkAgreement(state);
  for (const owner of owners) owner.isClosing = true;
  const closed = Promise.all(owners.map(({ hive }) => hive.close()));
  await clock.run(30_000);
  await closed;
  await Promise.all(owners.map(({ bus }) => bus?.close()));
  await stopDecoding();
  await clock.run(1_000);
  state.late.throw();
  need(state.unsettled === 0, "liveness", () => `${state.unsettled} promises are left after close`);
  need(clock.pending === 0, "leftovers", () => `${clock.pending} timers are left`);
  signals.checkEmpty();
  for (const { hive } of owners) {
    const after = await hive.acquire({ endpoint: "eu", tokens: 1 }).catch((error: unknown) => error);
    need(isHivepaceError(after, "LIMITER_CLOSED"), "reasons", () => `a closed hive says ${after}`);
  }
}

/** Ends all leases and parks. A park may be received late, from a hive that has removed the endpoint since. */
function openAll({ held, owners, parkedUntil }: State): void {
  parkedUntil.clear();
  for (const { hive, endpoints } of owners) for (const id of new Set(endpoints.map((each) => each.id))) hive.unpark(id);
  for (const each of held) {
    each.isOpen = false;
    each.lease.done();
  }
}

/**
 * Checks agreement: hives that have exchanged messages for a while know each other, and have the same last cause of
 * each level.
 */
async function checkAgreement(state: State): Promise<void> {
  const { owners, setup } = state;
  await state.pass(15 * (setup.options.heartbeatIntervalMs ?? 1_000));
  const said = new Map<string, string>();
  for (const { hive, endpoints } of owners) {
    const { mode, members, endpoints: explained, agentId } = hive.status();
    need(mode !== "isolated" && mode !== "joining", "agreement", () => `${agentId} is ${mode} in the end`);
    const isCounted = members === owners.length || setup.store === "store";
    need(isCounted, "agreement", () => `${agentId} knows ${members} members of ${owners.length}`);
    // A store keeps the level, but not the last of several refusals that extended a pause.
    if (state.isReconfigured || state.hasLearned || setup.store === "store") continue;
    for (const { endpoint, model, cause } of explained) {
      const name = nameOf({ id: endpoint, model });
      const { rpmLimit = 0 } = endpoints.find((each) => nameOf(each) === name) ?? {};
      // Limits of less than one request are not shared.
      if (rpmLimit < 1 || rpmLimit > 1e9) continue;
      const word = cause ? `${cause.agentId}: ${cause.reason}` : "none";
      const before = said.get(name) ?? word;
      said.set(name, word);
      need(before === word, "agreement", () => `the level of ${name} differs: ${before} | ${word}`);
    }
  }
}
