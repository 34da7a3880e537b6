import { type MemoryBroker, memoryBroker } from "@hivepace/bus";
import type { ChaosBus } from "@hivepace/bus/testing";
import type { Lease } from "@hivepace/core";
import { ManualClock, SyncMemory } from "@hivepace/core/testing";
import type { Hive, HiveEndpoint, HiveKeyLimits } from "../../../src/index.ts";
import { Signals } from "../core/counting-signal.ts";
import { Late } from "../core/promises.ts";
import { type Amounts, configOf, nameOf } from "./amounts.ts";
import { type Entry, Ledger } from "./ledger.ts";
import type { Ask, Setup } from "./program.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DEFAULT_LEASE_MS = 15 * MINUTE;

/** A hive of the program, with the program's knowledge about it. */
export interface Owner {
  readonly index: number;
  hive: Hive;
  bus: ChaosBus | undefined;
  endpoints: readonly HiveEndpoint[];
  keys: Readonly<Record<string, HiveKeyLimits>>;
  readonly waiting: Set<Call>;
  /** Time of the last wait or denial. */
  demandAt: number;
  isClosing: boolean;
}

/** A waiting call. */
export interface Call {
  readonly owner: Owner;
  readonly ask: Ask;
  readonly order: number;
  readonly since: number;
}

/** A lease that the program holds, as the reference model sees it. */
export interface Held {
  readonly lease: Lease;
  readonly owner: Owner;
  readonly entry: Entry;
  readonly amounts: Amounts;
  expiresAt: number;
  isOpen: boolean;
}

/** State that all parts of a hive's world share. */
export class State {
  readonly setup: Setup;
  readonly clock = new ManualClock({ now: 5_000 });
  readonly broker: MemoryBroker = memoryBroker();
  readonly memory = new SyncMemory(this.clock);
  readonly ledger = new Ledger();
  readonly owners: Owner[] = [];
  readonly held: Held[] = [];
  readonly signals = new Signals(3);
  readonly late = new Late();
  /** From now on agents may have incomplete knowledge, so that limits are checked for lone hives only. */
  isDisturbed: boolean;
  /** Whether limits were learned from answers, which the model does not know. */
  hasLearned = false;
  /** Whether any hive was reconfigured. */
  isReconfigured = false;
  /** The longest window that was configured or learned. */
  longestMs: number;
  /** Ends of the parks of a lone hive, by endpoint and model. */
  readonly parkedUntil = new Map<string, number>();
  /** The lease that is just ending, for listeners that end it a second time. */
  ending: Lease | undefined;
  unsettled = 0;
  starts = 0;
  calls = 0;

  constructor(setup: Setup) {
    this.setup = setup;
    this.isDisturbed = setup.bus === "lossy";
    this.longestMs = setup.options.windowMs ?? MINUTE;
  }

  get windowMs(): number {
    return this.setup.options.windowMs ?? MINUTE;
  }

  get isAlone(): boolean {
    return this.owners.length === 1;
  }

  /** Whether the model can check amounts: it knows all limits, and the hives enforce them. */
  get isJudged(): boolean {
    return !this.setup.isExtreme && this.setup.options.mode !== "observe";
  }

  owner(index: number): Owner {
    return this.owners[index % this.owners.length] as Owner;
  }

  disturb(): void {
    if (!this.isAlone) this.isDisturbed = true;
  }

  /** The targets among a call's candidates that a hive has. */
  targetsOf({ endpoints }: Owner, { endpoint, route, model }: Ask): HiveEndpoint[] {
    const candidates = [...new Set(route ?? [endpoint as string])];
    return candidates.flatMap((id) => configOf(endpoints, id, model) ?? []);
  }

  /** The names of the targets where a call waits. Calls with the same names wait in the same queues. */
  linesOf(owner: Owner, ask: Ask): string[] {
    return this.targetsOf(owner, ask).map(nameOf);
  }

  async pass(ms: number): Promise<void> {
    await this.clock.run(ms);
    this.expire();
    this.late.throw();
  }

  expire(): void {
    const now = this.clock.now();
    for (const held of this.held) if (held.expiresAt <= now) held.isOpen = false;
  }
}
