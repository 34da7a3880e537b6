/**
 * Keeps credentials out of errors, warnings and output. Every text about an address, an option or the error of a
 * broker's client passes through here.
 */

const HIDDEN = "(hidden)";

/** Credentials of a URL within a text: everything before the last `@` of the same word. `file:///…` contains none. */
const IN_TEXT = /:\/\/(?!\/)\S*@/g;

/** Redis repeats the arguments of an unknown command, for instance of an AUTH that was renamed. */
const REPEATED_ARGUMENTS = /(unknown command .?(?:auth|hello)\b.*? args beginning with:)[^\n]*/gi;

/** Names of options and properties whose value is a secret. `tokens` is an amount. */
const SECRET_NAME =
  /(^|[._-])(?!tokens$)((\w*(pass(word|wd|phrase)?|secret|apikey|authtoken|accesstoken))|token|nkey|seed|jwt|creds|credentials|authorization|cookie|pfx)s?$/i;

/** Names of options whose value is an address, possibly without a scheme. */
const ADDRESS_NAME = /(^|[._-])(url|uri|bus|sync|server|broker|host|address|redis|source)s?(\[\d+\])?$/i;

/** An address with a scheme, or with a user and a password. */
const ADDRESS = /^([a-z][a-z0-9+.-]*:\/\/|[^\s@]*:[\s\S]*@)/i;

/** Names whose value is a secret in nested objects only. */
const NESTED_SECRET_NAME = /^(key|auth)$/i;

const DEEPEST = 5;
/** Maximum number of list items, and of objects, in the copy of one value. */
const MOST_ITEMS = 50;
const MOST_NAME = 100;

/** Returns a text without the credentials of the URLs in it. */
export function redact(text: string): string {
  const withoutUrls = text.includes("@") ? text.replace(IN_TEXT, "://…@") : text;
  return withoutUrls.includes("beginning with:")
    ? withoutUrls.replace(REPEATED_ARGUMENTS, `$1 ${HIDDEN}`)
    : withoutUrls;
}

/** Returns an address without user and password, whatever characters they contain. */
export function redactAddress(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[\s\S]*@/i, "$1…@");
}

/**
 * Returns the value of an option in a form that an error may carry: credentials are hidden, and only the plain data of
 * an object is copied, because any property of a client or a socket may hold credentials.
 */
export function redactOption(option: string, value: unknown): unknown {
  try {
    return redactValue(option.slice(-MOST_NAME), value, 0, { left: MOST_ITEMS });
  } catch {
    // A getter or a proxy of the value threw.
    return "an object";
  }
}

function redactValue(name: string, value: unknown, depth: number, budget: { left: number }): unknown {
  const isSecret = SECRET_NAME.test(name) || (depth > 0 && NESTED_SECRET_NAME.test(name));
  if (typeof value === "string") {
    if (isSecret) return HIDDEN;
    return ADDRESS_NAME.test(name) || ADDRESS.test(value) ? redactAddress(value) : redact(value);
  }
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return value;
  if (isSecret) return HIDDEN;
  if (depth >= DEEPEST || budget.left-- <= 0) return "…";
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => redactValue(name, item, depth + 1, budget));
  if (value instanceof Error) return safeError(value);
  if (!isPlain(value)) return "an object";
  const entries = Object.entries(value).slice(0, MOST_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [key, redactValue(key, item, depth + 1, budget)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype as object) === null;
}

/** Properties of an error that identify the failure and never contain arguments of the call. */
const KEPT = ["code", "errno", "syscall", "address", "port", "type", "retriable", "api_error"] as const;

const DEEPEST_CAUSE = 8;

/**
 * Returns a copy of a foreign error for the `cause` of a Hivepace error: the same class with message, stack and the
 * properties in `KEPT`. Clients leave commands, options and sockets in the properties of their errors, and with them
 * passwords.
 */
export function safeError(error: unknown, depth = 0): unknown {
  if (typeof error === "string") return redact(error);
  if (!(error instanceof Error)) return redactOption("cause", error);
  if (isSafe(error)) return error;
  // The copy is created by `Error`, because loggers and test runners treat an object that only inherits from it
  // differently.
  const copy = Object.setPrototypeOf(new Error(redact(String(error.message))), Object.getPrototypeOf(error)) as Error;
  const define = (key: string, value: unknown): void => {
    Object.defineProperty(copy, key, { value, configurable: true, writable: true, enumerable: false });
  };
  define("stack", redact(String(error.stack ?? "")));
  if (Object.hasOwn(error, "name")) define("name", redact(String(error.name)));
  for (const key of KEPT) {
    const value = (error as unknown as Record<string, unknown>)[key];
    const isScalar = ["string", "number", "boolean"].includes(typeof value);
    if (isScalar) Object.assign(copy, { [key]: typeof value === "string" ? redact(value) : value });
  }
  if (depth < DEEPEST_CAUSE) {
    const { cause, errors } = error as { cause?: unknown; errors?: unknown };
    if (cause !== undefined) define("cause", safeError(cause, depth + 1));
    if (Array.isArray(errors))
      define(
        "errors",
        errors.slice(0, MOST_ITEMS).map((one) => safeError(one, depth + 1)),
      );
  }
  return copy;
}

/** Hivepace's own errors were redacted when they were created. */
const BRAND = Symbol.for("hivepace.error");
const isSafe = (error: Error): boolean => BRAND in error;

/**
 * Returns the message of an error without credentials. The error of a host with several addresses has a code and no
 * message.
 */
export function messageOf(error: unknown): string {
  const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown };
  return redact(String(message || code || error));
}
