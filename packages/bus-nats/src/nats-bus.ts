import { BusUnavailableError, DriverBus, type DriverBusOptions, type MessageBus } from "@hivepace/bus";
import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";
import { hearsItself, isConnection, isRefusal, type NatsConnectionLike } from "./client.ts";
import { type Link, NatsDriver } from "./nats-driver.ts";
import { Dialer, loadLibrary } from "./open-connection.ts";

/** What a bus may be told, whoever's connection it uses. */
export interface NatsBusOptions extends DriverBusOptions {
  /**
   * Whether a server that cannot be reached is waited for: the bus is then `connecting`. Otherwise `natsBus` rejects.
   * Default: false.
   */
  waitForBroker?: boolean | undefined;
  /** How long an attempt to connect may take. Default: 5 seconds. */
  connectTimeoutMs?: number | undefined;
}

/** For a connection of the bus's own. What is not named here goes to the client's `connect` as it is. */
export interface NatsOptions extends NatsBusOptions {
  /** `host:port` or `nats://host:port`, one or more of the same cluster. */
  servers: string | readonly string[];
  token?: string | undefined;
  user?: string | undefined;
  pass?: string | undefined;
  /** The seed of an NKEY, which begins with `SU`. */
  nkey?: string | undefined;
  /** What an authenticator of the client library returns, or several. */
  authenticator?: unknown;
  /** As the client takes it: `ca`, `caFile`, `cert`, `certFile`, `key`, `keyFile`, `handshakeFirst`. */
  tls?: object | null | undefined;
  [clientOption: string]: unknown;
}

const DEFAULTS = { waitForBroker: false, connectTimeoutMs: 5_000, clock: systemClock };

/**
 * A bus on NATS: on a connection that it makes itself and closes, or on one that it is lent and leaves open.
 * Resolves when the bus is ready; see `waitForBroker`.
 */
export async function natsBus(options: NatsOptions): Promise<MessageBus>;
export async function natsBus(connection: NatsConnectionLike, options?: NatsBusOptions): Promise<MessageBus>;
export async function natsBus(source: NatsOptions | NatsConnectionLike, given: NatsBusOptions = {}) {
  const lent = isConnection(source);
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
  if (connection.isClosed()) throw new BusUnavailableError("nats", "the connection that it was lent is closed");
  return { open: async () => connection, close: async () => {} };
}

/** The first attempt decides: it connects, it is refused, or nobody is there and we wait or do not. */
async function own(options: NatsOptions, wait: boolean, timeoutMs: number, clock: Clock): Promise<Link> {
  const forClient = clientOptions(options);
  const library = await loadLibrary();
  const first = new Dialer(library, forClient, timeoutMs);
  try {
    const connection = await inTime(first.dial({ patient: false }), timeoutMs, clock);
    return { open: async () => connection, close: () => first.stop() };
  } catch (error) {
    await first.stop();
    if (!wait || isRefusal(error)) throw unreachable(error);
  }
  const next = new Dialer(library, forClient, timeoutMs);
  return { open: () => next.dial({ patient: true }), close: () => next.stop() };
}

function unreachable(cause: unknown): BusUnavailableError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new BusUnavailableError("nats", isRefusal(cause) ? `it refused the credentials (${why})` : why, { cause });
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

const NO_ECHO = "false: a bus hears what it publishes itself";
const SERVERS = "an address or a list of them, such as `nats://localhost:4222`";

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

/** What goes to the client: everything that is not ours. */
function clientOptions(options: NatsOptions): Record<string, unknown> {
  const { waitForBroker, connectTimeoutMs, publishTimeoutMs, closeTimeoutMs, clock, ...rest } = options;
  const servers = typeof rest.servers === "string" ? [rest.servers] : rest.servers;
  const isAddress = (server: unknown): boolean => typeof server === "string" && server !== "";
  if (!Array.isArray(servers) || servers.length === 0 || !servers.every(isAddress))
    throw new InvalidConfigError("servers", SERVERS, rest.servers);
  if (rest["noEcho"]) throw new InvalidConfigError("noEcho", NO_ECHO, rest["noEcho"]);
  const { nkey } = rest;
  if (nkey !== undefined && !(typeof nkey === "string" && /^SU[A-Z2-7]+$/.test(nkey)))
    throw new InvalidConfigError("nkey", "the seed of a user's NKEY, beginning with `SU`", "a secret");
  const set = Object.entries({ ...rest, servers: [...servers] }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set);
}
