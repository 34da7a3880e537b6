import { redact, redactOption, safeError } from "./redact.ts";
import { show } from "./show.ts";

/** Marks Hivepace's errors, including those of another copy of this package in the same program. */
const BRAND = Symbol.for("hivepace.error");

/**
 * The base of every error that Hivepace throws on purpose. Distinguish errors by `code`, never by their text. No
 * property contains a password: `cause` is a copy of the original error without its arguments.
 */
export class HivepaceError extends Error {
  static override readonly [Symbol.hasInstance]: (value: unknown) => boolean = isInstance;
  override readonly name: string = "HivepaceError";
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(redact(message), options && "cause" in options ? { cause: safeError(options.cause) } : undefined);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

interface ErrorClass {
  readonly code?: string;
}

/**
 * Implements `instanceof`. Classes of two copies of Hivepace, such as its ES modules and its CommonJS build in one
 * process, count as the same class when their static `code` is equal.
 */
function isInstance(this: ErrorClass, value: unknown): boolean {
  if (isHivepaceError(value)) {
    if (this === HivepaceError) return true;
    if (Object.hasOwn(this, "code")) return this.code === value.code;
  }
  return Function.prototype[Symbol.hasInstance].call(this, value);
}

/** The limiter or hive was closed before the call or while it waited. */
export class ClosedError extends HivepaceError {
  override readonly name = "ClosedError";
  static readonly code = "LIMITER_CLOSED";
  declare readonly code: "LIMITER_CLOSED";

  /** @param name - the kind of object that is closed */
  constructor(name = "limiter") {
    super("LIMITER_CLOSED", `the ${name} is closed`);
  }
}

/** No capacity was set for this resource, or the resource was removed while the call waited. */
export class ResourceUnknownError extends HivepaceError {
  override readonly name = "ResourceUnknownError";
  static readonly code = "RESOURCE_UNKNOWN";
  declare readonly code: "RESOURCE_UNKNOWN";
  readonly resource: string;
  /** The known names, where the error can list them. */
  readonly known: readonly string[] | undefined;

  /**
   * @param resource - the unknown name, or several names of which none is known
   * @param known - the known names, where the error can list them
   * @param advice - what to do
   */
  constructor(
    resource: string | readonly string[],
    kind = "resource",
    known?: readonly string[],
    advice = known === undefined ? "set its capacity first" : `known are ${listOf(known)}`,
  ) {
    const names = typeof resource === "string" ? [resource] : resource;
    super("RESOURCE_UNKNOWN", `unknown ${kind} ${listOf(names)}: ${advice}`);
    this.resource = names[0] ?? "";
    this.known = known;
  }
}

/** Maximum number of names in a message. */
const MOST_NAMED = 20;

/** Formats names for a message. */
export function listOf(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).map(show).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/**
 * Why a call was not granted: its time limit passed, the queue is full, no window can ever hold its cost, or the endpoint
 * does not become available in time.
 */
export type ExhaustedReason = "timeout" | "queue-full" | "too-large" | "unavailable";

/** The wait timed out or could not begin. Nothing was spent. */
export class CapacityExhaustedError extends HivepaceError {
  override readonly name = "CapacityExhaustedError";
  static readonly code = "CAPACITY_EXHAUSTED";
  declare readonly code: "CAPACITY_EXHAUSTED";
  readonly resource: string;
  readonly reason: ExhaustedReason;
  /**
   * Time after which the same call would be granted if it joined the end of the present queue; undefined if it never
   * would.
   */
  readonly retryAfterMs: number | undefined;

  constructor(resource: string, reason: ExhaustedReason, detail: string, retryAfterMs?: number) {
    super("CAPACITY_EXHAUSTED", `no capacity for ${show(resource)}: ${detail}`);
    this.resource = resource;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An invalid value, the option it was given for and the rule that it breaks. */
class InvalidValueError extends HivepaceError {
  readonly option: string;
  readonly rule: string;
  /** The value with credentials hidden; for an object, a copy of its plain data. */
  readonly value: unknown;

  constructor(code: string, option: string, rule: string, value: unknown) {
    const shown = redactOption(option, value);
    super(code, `${option} must be ${rule}, got ${typeof value === "string" ? show(shown) : show(value)}`);
    this.option = option;
    this.rule = rule;
    this.value = shown;
  }
}

/** A capacity or burst breaks its rule, for instance because it is not above 0; nothing was changed. */
export class InvalidCapacityError extends InvalidValueError {
  override readonly name = "InvalidCapacityError";
  static readonly code = "INVALID_CAPACITY";
  declare readonly code: "INVALID_CAPACITY";

  constructor(option: string, rule: string, value: unknown) {
    super("INVALID_CAPACITY", option, rule, value);
  }
}

/** The length of a window breaks its rule, for instance because it is not above 0; nothing was changed. */
export class InvalidWindowError extends InvalidValueError {
  override readonly name = "InvalidWindowError";
  static readonly code = "INVALID_WINDOW";
  declare readonly code: "INVALID_WINDOW";

  constructor(option: string, rule: string, value: unknown) {
    super("INVALID_WINDOW", option, rule, value);
  }
}

/** Any other option breaks its rule; nothing was changed. */
export class InvalidConfigError extends InvalidValueError {
  override readonly name = "InvalidConfigError";
  static readonly code = "INVALID_CONFIG";
  declare readonly code: "INVALID_CONFIG";

  constructor(option: string, rule: string, value: unknown) {
    super("INVALID_CONFIG", option, rule, value);
  }
}

/** The error codes of this package and their classes. Other packages add theirs by declaration merging. */
export interface HivepaceErrorCodes {
  LIMITER_CLOSED: ClosedError;
  RESOURCE_UNKNOWN: ResourceUnknownError;
  CAPACITY_EXHAUSTED: CapacityExhaustedError;
  INVALID_CAPACITY: InvalidCapacityError;
  INVALID_WINDOW: InvalidWindowError;
  INVALID_CONFIG: InvalidConfigError;
}

/**
 * Returns whether a value is an error of Hivepace, and has this code if one is given. The errors of another copy of the
 * package, which a duplicate installation causes, are recognised as well.
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
