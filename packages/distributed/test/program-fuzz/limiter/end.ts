import { isHivepaceError } from "@hivepace/core";
import { need } from "../core/violation.ts";
import type { State } from "./state.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The fraction of a limit that is requested at the end, within forty seconds. */
const MOST_ASKED = 0.5;

/** Ends a program: calls that fit are granted, agents agree, promises settle, and nothing is left over. */
export async function end(state: State, stopDecoding: () => Promise<void>): Promise<void> {
  const { broker, clock, agents, signals, setup } = state;
  broker.start();
  // A pause that only the store knows reaches every agent within a few heartbeats.
  if (setup.hasStore) await state.pass(MINUTE);
  const pauses = agents.flatMap(({ limiter }) => limiter.status().resources.map(({ pausedForMs }) => pausedForMs));
  const longestMs = Math.max(0, ...pauses);
  // A provider may request a pause of a day, during which nothing happens.
  if (longestMs > MINUTE) clock.jump(longestMs);
  // An unshared bucket keeps what was spent when its limit is lowered: 100 calls, at a new limit of one in two minutes.
  const patienceMs = setup.sharing === "none" ? 8 * HOUR : 2 * HOUR;
  for (let waitMs = MINUTE; waitMs < patienceMs && state.unsettled > 0; waitMs *= 2) await state.pass(waitMs);
  const mayWait = setup.isExtreme === true;
  need(
    state.unsettled === 0 || mayWait,
    "liveness",
    () => `${state.unsettled} calls still wait after ${patienceMs} ms`,
  );
  if (setup.bus === "perfect") await checkAgreement(state);
  // After a long freeze, agents count as new and share conservatively.
  const isSettled = state.unsettled === 0 && longestMs <= MINUTE;
  if (setup.bus === "perfect" && isSettled) await checkWholeLimit(state);
  await Promise.all([...agents.map(({ limiter }) => limiter.close()), clock.run(30_000)]);
  await Promise.all(agents.map(({ bus }) => bus.close()));
  await stopDecoding();
  await clock.run(1_000);
  state.late.throw();
  need(state.unsettled === 0, "liveness", () => `${state.unsettled} promises are left after close`);
  need(clock.pending === 0, "leftovers", () => `${clock.pending} timers are left`);
  signals.checkEmpty();
  for (const { limiter } of agents) {
    const after = await limiter.acquire("api").catch((error: unknown) => error);
    need(isHivepaceError(after, "LIMITER_CLOSED"), "reasons", () => `a closed limiter says ${after}`);
  }
}

/**
 * Checks agreement: agents that have exchanged messages for a while know each other, and have the same last cause of
 * each level.
 */
async function checkAgreement(state: State): Promise<void> {
  const { agents, setup } = state;
  await state.pass(15 * (setup.options.heartbeatIntervalMs ?? 1_000));
  const limits = agents.map(({ resources }) => resources.get("api")?.limit);
  // A store counts the agents of each limit; agents with another window do not count.
  const isCommon = limits.every(
    (each) => each !== undefined && each.windowMs === limits[0]?.windowMs && each.capacity >= 1,
  );
  const said = new Map<string, string>();
  for (const { limiter, resources } of agents) {
    const { mode, members, resources: all, agentId } = limiter.status();
    const isThere = mode !== "isolated" && mode !== "joining";
    need(isThere || (setup.hasStore && !isCommon), "agreement", () => `${agentId} is ${mode} in the end`);
    const isCounted = members === agents.length || (setup.hasStore && !isCommon);
    need(isCounted, "agreement", () => `${agentId} knows ${members} members of ${agents.length}`);
    for (const { resource, cause } of all) {
      const { capacity = 0 } = resources.get(resource)?.limit ?? {};
      if (state.changed.has(resource) || capacity < 1) continue;
      const word = cause ? `${cause.agentId}: ${cause.reason}` : "none";
      const before = said.get(resource) ?? word;
      said.set(resource, word);
      need(before === word, "agreement", () => `the level of ${resource} differs: ${before} | ${word}`);
    }
  }
}

/** Checks that a single agent gets the limit while no other has demand, so that no claim was left behind. */
async function checkWholeLimit(state: State): Promise<void> {
  const { agents, setup, clock } = state;
  if (setup.isExtreme || setup.sharing === "none") return;
  for (const name of ["api", "other"]) {
    const agent = agents.find(({ resources }) => resources.has(name));
    const limit = agent?.resources.get(name)?.limit;
    if (!agent || !limit) continue;
    const { capacity, windowMs } = limit;
    const { level = 0, pausedForMs = 0 } =
      agent.limiter.status().resources.find((each) => each.resource === name) ?? {};
    const isSame = agents.every(({ resources }) => (resources.get(name)?.limit.capacity ?? capacity) === capacity);
    const isSameWindow = agents.every(
      ({ resources }) => (resources.get(name)?.limit.windowMs ?? windowMs) === windowMs,
    );
    if (state.setAgain.has(name) || !isSame || !isSameWindow || level < 1 || pausedForMs > 0 || capacity < 5) continue;
    // All usage has left the window by then; a removed resource may still have left some behind.
    await state.pass(1.1 * windowMs);
    const asked = Math.floor(capacity * MOST_ASKED);
    let granted = 0;
    for (const deadline = clock.now() + 40_000; clock.now() < deadline; await state.pass(250))
      while (granted < asked && agent.limiter.tryAcquire(name)) granted++;
    need(
      granted === asked,
      "liveness",
      () => `one agent got ${granted} of ${asked} calls of ${name}, and nobody else asked`,
    );
  }
}
