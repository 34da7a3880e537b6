import { show } from "./show.ts";

/** Marks our errors, also those of another copy of this package in the same program. */
const BRAND = Symbol.for("hivepace.error");

/** The base of every error that Hivepace throws on purpose. Tell them apart by `code`, never by text. */
export class HivepaceError extends Error {
  override readonly name: string = "HivepaceError";
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** The limiter was closed, before the call or while it waited. */
export class ClosedError extends HivepaceError {
  override readonly name = "ClosedError";
  declare readonly code: "LIMITER_CLOSED";

  constructor() {
    super("LIMITER_CLOSED", "the limiter is closed");
  }
}

/** No capacity was set for this resource (or it was removed while the call waited). */
export class ResourceUnknownError extends HivepaceError {
  override readonly name = "ResourceUnknownError";
  declare readonly code: "RESOURCE_UNKNOWN";
  readonly resource: string;
  /** The names that are known, where the error can tell them. */
  readonly known: readonly string[] | undefined;

  /** `resource` may be several of which none is known. `known` are those that are, where the error can name them. */
  constructor(resource: string | readonly string[], kind = "resource", known?: readonly string[]) {
    const names = typeof resource === "string" ? [resource] : resource;
    const advice = known === undefined ? "set its capacity first" : `known are ${listOf(known)}`;
    super("RESOURCE_UNKNOWN", `unknown ${kind} ${listOf(names)}: ${advice}`);
    this.resource = names[0] ?? "";
    this.known = known;
  }
}

/** Errors name at most this many ids. */
const MOST_NAMED = 20;

function listOf(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).map(show).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Why a wait ended without a grant: given up, refused because too many wait, or because no window can ever hold it. */
export type ExhaustedReason = "timeout" | "queue-full" | "too-large";

/** The wait was given up, or could not begin. Nothing was spent. */
export class CapacityExhaustedError extends HivepaceError {
  override readonly name = "CapacityExhaustedError";
  declare readonly code: "CAPACITY_EXHAUSTED";
  readonly resource: string;
  readonly reason: ExhaustedReason;
  /** After this long the same call would be granted, if it stood at the end of the present line. Absent when it never would. */
  readonly retryAfterMs: number | undefined;

  constructor(resource: string, reason: ExhaustedReason, detail: string, retryAfterMs?: number) {
    super("CAPACITY_EXHAUSTED", `no capacity for ${show(resource)}: ${detail}`);
    this.resource = resource;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What an invalid value was meant for, the rule that it breaks, and the value itself. */
class InvalidValueError extends HivepaceError {
  readonly option: string;
  readonly rule: string;
  readonly value: unknown;

  constructor(code: string, option: string, rule: string, value: unknown) {
    super(code, `${option} must be ${rule}, got ${show(value)}`);
    this.option = option;
    this.rule = rule;
    this.value = value;
  }
}

/** A capacity or burst that is no number above 0. */
export class InvalidCapacityError extends InvalidValueError {
  override readonly name = "InvalidCapacityError";
  declare readonly code: "INVALID_CAPACITY";

  constructor(option: string, rule: string, value: unknown) {
    super("INVALID_CAPACITY", option, rule, value);
  }
}

/** A window that is no number above 0. */
export class InvalidWindowError extends InvalidValueError {
  override readonly name = "InvalidWindowError";
  declare readonly code: "INVALID_WINDOW";

  constructor(option: string, rule: string, value: unknown) {
    super("INVALID_WINDOW", option, rule, value);
  }
}

/** Any other option that breaks its rule; nothing was changed. */
export class InvalidConfigError extends InvalidValueError {
  override readonly name = "InvalidConfigError";
  declare readonly code: "INVALID_CONFIG";

  constructor(option: string, rule: string, value: unknown) {
    super("INVALID_CONFIG", option, rule, value);
  }
}

/** The codes of this package and their classes. Other packages add theirs by declaration merging. */
export interface HivepaceErrorCodes {
  LIMITER_CLOSED: ClosedError;
  RESOURCE_UNKNOWN: ResourceUnknownError;
  CAPACITY_EXHAUSTED: CapacityExhaustedError;
  INVALID_CAPACITY: InvalidCapacityError;
  INVALID_WINDOW: InvalidWindowError;
  INVALID_CONFIG: InvalidConfigError;
}

/**
 * Whether this is an error of ours, and of this code. Unlike `instanceof` it also knows the errors of a second
 * copy of the package, which is what one gets from a duplicate install.
 */
export function isHivepaceError(error: unknown): error is HivepaceError;
export function isHivepaceError<C extends keyof HivepaceErrorCodes>(
  error: unknown,
  code: C,
): error is HivepaceErrorCodes[C];
export function isHivepaceError(error: unknown, code: string): error is HivepaceError;
export function isHivepaceError(error: unknown, code?: string): boolean {
  if (typeof error !== "object" || error === null || !(BRAND in error)) return false;
  return code === undefined || (error as { code?: unknown }).code === code;
}
