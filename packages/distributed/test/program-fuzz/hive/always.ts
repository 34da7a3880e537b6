import { isHivepaceError } from "@hivepace/core";
import type { Hive, HiveExplanation } from "../../../src/index.ts";
import { checkNumbers, stable } from "../core/numbers.ts";
import { checkIgnored } from "../core/spoken.ts";
import { need } from "../core/violation.ts";
import type { Warnings } from "../core/warnings.ts";
import { configOf, nameOf } from "./amounts.ts";
import type { Call, Owner, State } from "./state.ts";

/** A window is counted in slots of this fraction of its length, so that usage expires up to one slot late. */
const SLOT = 1 / 512;

/** The laws that hold after every command. */
export class Always {
  readonly #state: State;
  readonly #warnings: Warnings;
  /** Known ends of the pauses of a lone hive, by target. */
  readonly #pausedUntil = new Map<string, number>();

  constructor(state: State, warnings: Warnings) {
    this.#state = state;
    this.#warnings = warnings;
  }

  check(): void {
    const { owners, signals, setup } = this.#state;
    for (const owner of owners) this.#checkOwner(owner);
    signals.check(owners.length);
    const isLonely = setup.bus === "none" && setup.store !== "store" && this.#warnings.codes.includes("HIVEPACE_ALONE");
    need(!isLonely, "warnings", () => "HIVEPACE_ALONE without a bus");
  }

  /** Forgets all pauses, because an answer ended one or a target has changed. */
  forgetPauses(): void {
    this.#pausedUntil.clear();
  }

  #checkOwner(owner: Owner): void {
    const { held, starts } = this.#state;
    const status = owner.hive.status();
    checkNumbers(status, `status of hive ${owner.index}`);
    const open = held.filter((each) => each.owner === owner && each.isOpen).length;
    need(status.leases === open, "leases", () => `${status.leases} leases are open, ${open} should be`);
    const { waiting } = status;
    need(waiting === owner.waiting.size, "liveness", () => `${waiting} calls wait, ${owner.waiting.size} should`);
    checkIgnored(owner.hive.agentId, status.ignored);
    need(status.peers.length <= starts, "memory", () => `${status.peers.length} peers are known, ${starts} were there`);
    for (const explanation of status.endpoints) this.#checkExplanation(owner, explanation);
  }

  #checkExplanation(owner: Owner, explanation: HiveExplanation): void {
    const { endpoint, model, limits, freesInMs, limitedBy, text } = explanation;
    for (const { windowMs } of limits)
      need(windowMs > 0 && windowMs < Infinity, "numbers", () => `a limit of ${endpoint} has a window of ${windowMs}`);
    need((freesInMs === 0) === (limitedBy === undefined), "explanations", () => `${limitedBy} frees in ${freesInMs}`);
    const config = configOf(owner.endpoints, endpoint, model);
    need(config !== undefined, "explanations", () => `${endpoint} is explained and not configured`);
    const isShut = config?.rpmLimit === 0 || config?.maxInFlightPerProcess === 0;
    const isRight = !isShut || (freesInMs === Infinity && !text.includes("has room now"));
    need(isRight, "explanations", () => `a limit of 0, and: ${text}`);
    const name = config ? nameOf(config) : endpoint;
    // The call's model may have learned its own limits.
    const waits = (call: Call) =>
      isSmall(call) &&
      this.#state.linesOf(owner, call.ask).includes(name) &&
      owner.hive.explain(endpoint, call.ask.model).freesInMs === 0;
    const isServed = freesInMs > 0 || !this.#state.isJudged || ![...owner.waiting].some(waits);
    need(isServed, "liveness", () => `${name} has room, and a small call waits for it`);
    this.#checkUnderWay(owner, name, explanation);
    this.#checkUsage(name, explanation);
    this.#checkPause(explanation);
  }

  /** The calls under way are the open leases, and each of them holds one slot. */
  #checkUnderWay(owner: Owner, target: string, { inFlight, slots }: HiveExplanation): void {
    const { held, isReconfigured, setup } = this.#state;
    if (isReconfigured) return;
    const open = held.filter((each) => each.isOpen && each.owner === owner && each.entry.target === target).length;
    const isRight = inFlight === open && (slots === undefined || slots.usedHere === open);
    need(
      isRight,
      "conservation",
      () => `${inFlight} calls of ${target} are under way, ${slots?.usedHere} hold slots, ${open} should`,
    );
    const isKnown = slots !== undefined && this.#state.isAlone && this.#state.starts === 1 && setup.store !== "store";
    need(
      !isKnown || slots.used === open,
      "conservation",
      () => `${slots?.used} slots of ${target} are used, not ${open}`,
    );
  }

  /** A lone hive's usage equals the model's: no usage is lost or counted twice. */
  #checkUsage(target: string, { limits }: HiveExplanation): void {
    const { isAlone, isJudged, hasLearned, isReconfigured, ledger, clock, starts, setup } = this.#state;
    if (!isAlone || !isJudged || hasLearned || isReconfigured || starts > 1 || setup.store === "store") return;
    for (const { dimension, windowMs, usedHere, limit } of limits) {
      if (limit === 0) continue;
      const least = ledger.used(target, dimension, windowMs, clock.now());
      const most = least + ledger.leaving(target, dimension, windowMs, windowMs * SLOT, clock.now());
      const isRight = usedHere >= least - 1e-6 && usedHere <= most + 1e-6;
      need(isRight, "conservation", () => `${usedHere} ${dimension} of ${target} are counted, ${least} were used`);
    }
  }

  /** A running pause of a lone hive is never shortened. */
  #checkPause({ endpoint, model, pausedForMs }: HiveExplanation): void {
    const { isAlone, isJudged, clock } = this.#state;
    if (!isAlone || !isJudged) return;
    const target = nameOf({ id: endpoint, model });
    const until = clock.now() + pausedForMs;
    const known = this.#pausedUntil.get(target) ?? -Infinity;
    need(
      known <= clock.now() + 1 || until >= known - 1,
      "pause",
      () => `a pause of ${target} was shortened by ${known - until} ms`,
    );
    this.#pausedUntil.set(target, until);
  }
}

/** Whether a call is no larger than the one that explanations describe, and meets only the endpoint's limits. */
function isSmall({ ask }: Call): boolean {
  const { tokens = Infinity, key, inputTokens, outputTokens } = ask;
  return tokens <= 1 && key === undefined && inputTokens === undefined && outputTokens === undefined;
}

/** Everything in a hive that an invalid call must not change. */
export function fingerprint(hive: Hive): string {
  const known = ["eu", "us", "ap", "new"].filter((id) => {
    try {
      return hive.route({ candidates: [id], tokens: 1 }) !== undefined;
    } catch (error) {
      if (isHivepaceError(error, "RESOURCE_UNKNOWN")) return false;
      throw error;
    }
  });
  return `${stable(hive.status())} routes to ${known.join()}`;
}
