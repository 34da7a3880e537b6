/**
 * Availability of an endpoint, or of one of its models: a register that agents merge as the maximum of a total order, as they
 * merge the backoff level. Duplicates, reordering and the path of a message do not matter.
 *
 * A register that is not "available" closes the endpoint for `waitMs`. After that it opens by itself, or, where `isProbed`,
 * it is half-open: one call of one agent goes through, and its outcome decides.
 */
export interface Register {
  /** Number of changes of the state. */
  readonly epoch: number;
  readonly state: "available" | "overloaded" | "broken" | "parked";
  readonly cause: AvailabilityCause;
  /**
   * Number of consecutive times the endpoint was closed; determines the next wait. Decays while the endpoint is
   * available.
   */
  readonly count: number;
  /**
   * Start of the present outage, across failed probes. Times are on this agent's clock; messages carry ages instead.
   */
  readonly since: number;
  readonly changedAt: number;
  readonly waitMs: number;
  /** The endpoint opens after one successful call, not by time alone. */
  readonly isProbed: boolean;
  /** The longest time in which the endpoint has lately refused or failed a call; 0 when unknown. */
  readonly refusalMs: number;
  /** Number of probes begun in this epoch, with the agent and time of the latest probe. */
  readonly probes: number;
  readonly prober: string;
  readonly probedAt: number;
  /** The agent that changed the state, and its reason. */
  readonly origin: string;
  readonly reason: string;
}

export type AvailabilityCause =
  | "overload"
  | "failures"
  | "quota"
  | "parked"
  | "unparked"
  | "probe-failed"
  | "recovered"
  | "ended";

/** The initial register of an endpoint. */
export const AVAILABLE: Register = {
  epoch: 0,
  state: "available",
  cause: "recovered",
  count: 0,
  since: -Infinity,
  changedAt: -Infinity,
  waitMs: 0,
  isProbed: false,
  refusalMs: 0,
  probes: 0,
  prober: "",
  probedAt: -Infinity,
  origin: "",
  reason: "",
};

/** A park of this length has no end of its own: only `unpark` ends it. */
export const LONGEST_PARK_MS = 31 * 86_400_000;
/** A probe that has not ended after this time no longer keeps other agents from probing. */
export const PROBE_MS = 30_000;

const SEVERITY = { available: 0, overloaded: 1, broken: 2, parked: 3 };

/** True when `a` supersedes `b`: a later change, the worse of two concurrent ones, or a later probe; then any fixed order. */
export function isLater(a: Register, b: Register): boolean {
  return (
    (a.epoch - b.epoch ||
      SEVERITY[a.state] - SEVERITY[b.state] ||
      a.waitMs - b.waitMs ||
      a.count - b.count ||
      a.probes - b.probes ||
      compare(a.origin, b.origin) ||
      compare(b.prober, a.prober) ||
      compare(a.reason, b.reason) ||
      compare(a.cause, b.cause) ||
      Number(a.isProbed) - Number(b.isProbed) ||
      a.refusalMs - b.refusalMs) > 0
  );
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a > b ? 1 : -1;
}

/** The later of two registers. Of equal ones the earlier times count, so that all agents wait until the same moment. */
export function mergeRegisters(ours: Register, received: Register): Register {
  if (isLater(received, ours)) return received;
  if (isLater(ours, received)) return ours;
  const changedAt = Math.min(ours.changedAt, received.changedAt);
  const since = Math.min(ours.since, received.since);
  const probedAt = Math.min(ours.probedAt, received.probedAt);
  const isSame = changedAt === ours.changedAt && since === ours.since && probedAt === ours.probedAt;
  return isSame ? ours : { ...ours, changedAt, since, probedAt };
}

/** Converts the times of a register to ages, or ages to times. */
export function withRegisterAges(register: Register, now: number): Register {
  const { since, changedAt, probedAt } = register;
  return { ...register, since: now - since, changedAt: now - changedAt, probedAt: now - probedAt };
}

/** Time at which the endpoint opens or becomes half-open; Infinity when only `unpark` opens it. */
export function closedUntil({ state, changedAt, waitMs }: Register): number {
  if (state === "available") return -Infinity;
  return waitMs >= LONGEST_PARK_MS ? Infinity : changedAt + waitMs;
}

/** True while the endpoint admits no call, or only a probe. */
export function isClosed(register: Register, now: number): boolean {
  return register.state !== "available" && (register.isProbed || now < closedUntil(register));
}
