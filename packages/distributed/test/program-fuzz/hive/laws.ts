import type { HiveEndpoint, SlotLimit } from "../../../src/index.ts";
import { need } from "../core/violation.ts";
import { type Amounts, amountsOf, limitsOf, nameOf } from "./amounts.ts";
import type { Entry } from "./ledger.ts";
import type { Call, Owner, State } from "./state.ts";

/** Tolerance for the rounding of sums. */
const EPSILON = 1e-6;
/** Allowed excess of a connected swarm over a limit, as a fraction, because two agents may decide at the same time. */
const SWARM_EXCESS = 0.1;
/** The largest call that fits a swarm, as a fraction of the limit: the rest is the safety margin. */
const SPARED = 0.9;
/** Checks that no grant exceeds a limit of the endpoint or the key, or happens during a pause. */
export function checkGranted(state: State, owner: Owner, entry: Entry): void {
  if (!state.isJudged) return;
  checkKey(state, owner, entry);
  const { isAlone, setup, clock, ledger, windowMs } = state;
  if (!isAlone && state.isDisturbed) return;
  // After a change of the window, a store grants the new limit without the usage of the former one.
  if (setup.store === "store" && state.isReconfigured) return;
  const { ratio, what } = ledger.fullness(entry.target, entry.limits, windowMs, clock.now());
  // With unlimited recovery the level rises up to twice the limit.
  const level = setup.options.maxRecovery === false ? 2 : 1;
  const most = level + (isAlone ? EPSILON : SWARM_EXCESS);
  need(ratio <= most, "limit", () => `granted above a limit of ${entry.target}: ${what}`);
}

/** Checks that no more calls are under way than an endpoint or a key allows. */
export function checkSlots(state: State, owner: Owner, config: HiveEndpoint, key: string | undefined): void {
  const { held, isAlone, isDisturbed, isJudged, setup, clock } = state;
  if (!isJudged || (!isAlone && (isDisturbed || setup.store === "store"))) return;
  const open = held.filter((each) => each.isOpen && each.expiresAt > clock.now());
  const check = (slots: SlotLimit | undefined, used: number, of: string): void => {
    // With unlimited recovery the level rises up to twice the limit, as for rates.
    const level = setup.options.maxRecovery === false ? 2 : 1;
    const most = level * (typeof slots === "object" ? slots.adaptive.max : (slots ?? Infinity));
    need(used <= most, "limit", () => `${used} calls of ${of} are under way, ${most} are allowed`);
  };
  const name = nameOf(config);
  check(config.maxInFlight, open.filter(({ entry }) => entry.target === name).length, name);
  // Calls of a key without limits are not counted, so that limits of a key begin with the calls after them.
  const limits = key === undefined || state.isReconfigured ? undefined : owner.keys[key];
  check(limits?.maxInFlight, open.filter(({ entry }) => entry.key === key).length, `key ${key}`);
}

function checkKey(state: State, owner: Owner, { key }: Entry): void {
  const limits = key === undefined ? undefined : owner.keys[key];
  if (key === undefined || !limits || state.isReconfigured) return;
  const { clock, windowMs, ledger, isAlone, setup } = state;
  const isOverAll = setup.bus === "perfect" && !state.isDisturbed;
  const since = clock.now() - windowMs;
  const { ratio, what } = ledger.keyFullness(key, limits, since, isOverAll ? undefined : owner.index);
  need(
    ratio <= (isOverAll && !isAlone ? 1 + SWARM_EXCESS : 1 + EPSILON),
    "limit",
    () => `granted above a limit: ${what}`,
  );
}

/** "too-large" is correct only for a call that every candidate would reject forever. */
export function checkTooLarge(state: State, { owner, ask }: Call): void {
  if (!state.isJudged || state.hasLearned || ask.tokens === undefined) return;
  // The smallest of all agents' limits applies, and a former limit may be the smallest until all agents know of the
  // change.
  if (state.isReconfigured && !(state.isAlone && state.setup.store === "none")) return;
  const amounts = amountsOf(ask);
  const keyLimits = ask.key === undefined ? {} : (owner.keys[ask.key] ?? {});
  const { rpmLimit = Infinity, tpmLimit = Infinity } = keyLimits;
  if (rpmLimit === 0 || amounts.tokens > Math.floor(tpmLimit)) return;
  for (const config of state.targetsOf(owner, ask)) {
    const isExceeded =
      config.maxInFlightPerProcess === 0 ||
      limitsOf(config).some(({ dimension, limit }) => isAbove(amounts, dimension, limit, state.isAlone));
    need(isExceeded, "reasons", () => `too large, and ${nameOf(config)} would hold it`);
  }
}

function isAbove(amounts: Amounts, dimension: keyof Amounts, limit: number, isAlone: boolean): boolean {
  const most = limit > 0 && limit < 1 ? 1 : limit;
  return amounts[dimension] > (isAlone ? Math.floor(most) : most * SPARED);
}

/** "queue-full" is correct only when the queue of each candidate is full. */
export function checkQueueFull(state: State, { owner, ask }: Call): void {
  const { maxQueue = Infinity } = state.setup.options;
  for (const line of state.linesOf(owner, ask)) {
    const size = [...owner.waiting].filter((each) => state.linesOf(owner, each.ask).includes(line)).length;
    need(
      size >= maxQueue || isClosed(state, owner, line, ask),
      "reasons",
      () => `queue-full, and ${size} wait for ${line}`,
    );
  }
}

/** Whether a candidate rejects the call forever, so that no call waits there. */
function isClosed(state: State, owner: Owner, line: string, ask: Call["ask"]): boolean {
  const config = state.targetsOf(owner, ask).find((each) => nameOf(each) === line);
  const amounts = amountsOf(ask);
  return (
    config?.maxInFlightPerProcess === 0 ||
    state.hasLearned ||
    limitsOf(config ?? { id: "" }).some(({ dimension, limit }) => isAbove(amounts, dimension, limit, false))
  );
}

/** Checks that no earlier call of the same kind was overtaken, if it could use every candidate of the later one. */
export function checkNotOvertaken(state: State, granted: Call): void {
  if (!state.isJudged || state.hasLearned || state.isReconfigured) return;
  const { owner, ask } = granted;
  const lines = state.linesOf(owner, ask);
  for (const earlier of owner.waiting) {
    if (earlier.order > granted.order || (earlier.ask.priority ?? 0) < (ask.priority ?? 0)) continue;
    const isSame = (["key", "model", "tokens", "inputTokens", "outputTokens"] as const).every(
      (name) => earlier.ask[name] === ask[name],
    );
    const others = state.linesOf(owner, earlier.ask);
    const isOvertaken = isSame && lines.every((line) => others.includes(line));
    need(!isOvertaken, "order", () => `${JSON.stringify(ask)} overtook ${JSON.stringify(earlier.ask)}`);
  }
}
