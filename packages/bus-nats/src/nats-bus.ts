import { BusUnavailableError, DriverBus, type DriverBusOptions, type MessageBus } from "@hivepace/bus";
import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, checkKnown, checkSpelling, isAmount, messageOf, type OptionNames } from "@hivepace/core/internal";
import { hearsItself, isConnection, isRefusal, type NatsConnectionLike } from "./client.ts";
import { type Link, NatsDriver } from "./nats-driver.ts";
import { Dialer, loadLibrary } from "./open-connection.ts";
import { readServers } from "./servers.ts";

/** Options that apply both to a lent connection and to one that the bus opens. */
export interface NatsBusOptions extends DriverBusOptions {
  /**
   * Whether to wait for an unreachable server: the bus is then `connecting`. Otherwise `natsBus` rejects.
   *
   * @defaultValue false
   */
  waitForBroker?: boolean | undefined;
  /**
   * Milliseconds that one attempt to connect may take.
   *
   * @defaultValue 5000
   */
  connectTimeoutMs?: number | undefined;
}

/**
 * Options for a connection that the bus opens. Properties not listed here are passed to the client's `connect`
 * unchanged.
 */
export interface NatsOptions extends NatsBusOptions {
  /**
   * `host:port` or `nats://[user:password@]host:port`, one or several of the same cluster; `tls://` for TLS. A single
   * word before the `@` is a token. User and password may be percent-encoded, but need not be.
   */
  servers: string | readonly string[];
  /** A token; takes precedence over one in an address. */
  token?: string | undefined;
  /** The user name; takes precedence over one in an address. */
  user?: string | undefined;
  /** The password; takes precedence over one in an address. */
  pass?: string | undefined;
  /** The seed of an NKEY, which begins with `SU`. */
  nkey?: string | undefined;
  /** One or several results of an authenticator function of the client library. */
  authenticator?: unknown;
  /** TLS options of the client: `ca`, `caFile`, `cert`, `certFile`, `key`, `keyFile`, `handshakeFirst`. */
  tls?: object | null | undefined;
  [clientOption: string]: unknown;
}

const SOURCE = "a connection of nats.js, or options with `servers`";

const OPTIONS = {
  waitForBroker: true,
  connectTimeoutMs: true,
  publishTimeoutMs: true,
  closeTimeoutMs: true,
  clock: true,
} as const satisfies OptionNames<NatsBusOptions>;

const DEFAULTS = { waitForBroker: false, connectTimeoutMs: 5_000, clock: systemClock };

/**
 * Opens a bus on NATS. Given options, it opens a connection and closes it with the bus; a lent connection stays open.
 * Resolves when the bus is ready; see `waitForBroker`.
 *
 * @throws InvalidConfigError when an option is invalid.
 * @throws BusUnavailableError when the server cannot be reached or refuses the credentials.
 *
 * @example
 * ```ts
 * import { natsBus } from "@hivepace/bus-nats";
 *
 * await using bus = await natsBus({ servers: "nats://localhost:4222" });
 * await bus.subscribe("greetings", (payload) => console.log(payload));
 * ```
 */
export async function natsBus(options: NatsOptions): Promise<MessageBus>;
export async function natsBus(connection: NatsConnectionLike, options?: NatsBusOptions): Promise<MessageBus>;
export async function natsBus(source: NatsOptions | NatsConnectionLike, given: NatsBusOptions = {}) {
  if (typeof source !== "object" || source === null) throw new InvalidConfigError("source", SOURCE, source);
  const lent = isConnection(source);
  if (lent) checkKnown(given, OPTIONS);
  else checkSpelling(source, OPTIONS);
  const { waitForBroker, connectTimeoutMs, ...settings } = checkOptions(lent ? given : source);
  const link = lent ? lend(source) : await own(source, waitForBroker, connectTimeoutMs, settings.clock);
  const bus = new DriverBus((events) => new NatsDriver(link, events), "connecting", settings);
  if (waitForBroker) return bus;
  try {
    await inTime(ready(bus), connectTimeoutMs, settings.clock);
  } catch (error) {
    await bus.close();
    throw unreachable(error);
  }
  return bus;
}

function lend(connection: NatsConnectionLike): Link {
  if (!hearsItself(connection)) throw new InvalidConfigError("noEcho", NO_ECHO, true);
  if (connection.isClosed()) throw new BusUnavailableError("nats", "the lent connection is closed");
  return { open: async () => connection, close: async () => {}, isOwn: false };
}

/**
 * The first attempt decides: it succeeds, the credentials are refused, or the server is unreachable and `wait` applies.
 */
async function own(options: NatsOptions, wait: boolean, timeoutMs: number, clock: Clock): Promise<Link> {
  const forClient = clientOptions(options);
  const library = await loadLibrary();
  const first = new Dialer(library, forClient, timeoutMs);
  let awayReason: string | undefined;
  try {
    const connection = await inTime(first.dial({ patient: false }), timeoutMs, clock);
    return { open: async () => connection, close: () => first.stop(), isOwn: true };
  } catch (error) {
    await first.stop();
    if (!wait || isRefusal(error)) throw unreachable(error);
    awayReason = messageOf(error);
  }
  const next = new Dialer(library, forClient, timeoutMs);
  return { awayReason, open: () => next.dial({ patient: true }), close: () => next.stop(), isOwn: true };
}

function unreachable(cause: unknown): BusUnavailableError {
  const why = messageOf(cause);
  return new BusUnavailableError("nats", isRefusal(cause) ? `the server refused the credentials (${why})` : why, {
    cause,
  });
}

function ready(bus: MessageBus): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = bus.onState((state) => {
      leave();
      if (state === "ready") resolve();
      else reject(new Error("the connection was closed"));
    });
  });
}

function inTime<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}

const NO_ECHO = "false, because a bus receives its own messages";

function checkOptions(options: NatsBusOptions) {
  const { waitForBroker, connectTimeoutMs, publishTimeoutMs, closeTimeoutMs, clock } = options;
  if (waitForBroker !== undefined && typeof waitForBroker !== "boolean")
    throw new InvalidConfigError("waitForBroker", "true or false", waitForBroker);
  if (connectTimeoutMs !== undefined && !isAmount(connectTimeoutMs))
    throw new InvalidConfigError("connectTimeoutMs", AMOUNT, connectTimeoutMs);
  return {
    waitForBroker: waitForBroker ?? DEFAULTS.waitForBroker,
    connectTimeoutMs: connectTimeoutMs ?? DEFAULTS.connectTimeoutMs,
    clock: clock ?? DEFAULTS.clock,
    publishTimeoutMs,
    closeTimeoutMs,
  };
}

/** Returns the options for the client: everything except the options of the bus. */
function clientOptions(options: NatsOptions): Record<string, unknown> {
  const { waitForBroker, connectTimeoutMs, publishTimeoutMs, closeTimeoutMs, clock, ...rest } = options;
  const { servers, ...login } = readServers(rest.servers);
  if (rest["noEcho"]) throw new InvalidConfigError("noEcho", NO_ECHO, rest["noEcho"]);
  const { nkey } = rest;
  if (nkey !== undefined && !(typeof nkey === "string" && /^SU[A-Z2-7]+$/.test(nkey)))
    throw new InvalidConfigError("nkey", "the seed of a user's NKEY, beginning with `SU`", "a secret");
  // An option takes precedence over the same setting in an address.
  return withoutUndefined({ ...login, ...withoutUndefined(rest), servers });
}

const withoutUndefined = (options: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
