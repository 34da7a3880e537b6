import type { DriverBusOptions } from "@hivepace/bus";
import { InvalidConfigError } from "@hivepace/core";
import { AMOUNT, hostText, isAmount, parseAddress } from "@hivepace/core/internal";

/** Options that apply both to a lent client and to one that the bus creates. */
export interface KafkaBusOptions extends Pick<DriverBusOptions, "publishTimeoutMs" | "closeTimeoutMs"> {
  /**
   * The topic that carries all messages.
   *
   * @defaultValue "hivepace-bus"
   */
  topic?: string | undefined;
  /**
   * Whether to create the topic if it does not exist.
   *
   * @defaultValue true
   */
  createTopic?: boolean | undefined;
  /**
   * Prefix of the names of the bus's consumer groups, for use in ACLs.
   *
   * @defaultValue "hivepace-bus-"
   */
  groupPrefix?: string | undefined;
  /**
   * Whether to resolve without a broker and wait for it in the background.
   *
   * @defaultValue false
   */
  waitForBroker?: boolean | undefined;
  /**
   * Milliseconds that reaching the broker may take.
   *
   * @defaultValue 5000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * Milliseconds that joining the group may take once the broker is reached. By default a broker delays a join by 3
   * seconds.
   *
   * @defaultValue 30000
   */
  joinTimeoutMs?: number | undefined;
}

/** Connection settings in the format of kafkajs. */
export interface KafkaConnection {
  /**
   * `host:port` or `kafka://[user:password@]host:port` of some brokers, or a function that returns such a list;
   * `kafka+ssl://` for TLS. User and password may be percent-encoded, but need not be; `?mechanism=scram-sha-512`
   * selects a mechanism other than PLAIN.
   */
  brokers: readonly string[] | (() => readonly string[] | Promise<readonly string[]>);
  /**
   * Name of the client in the broker's logs and quotas.
   *
   * @defaultValue "hivepace"
   */
  clientId?: string | undefined;
  /** TLS: `true`, or options of Node's `tls.connect`. */
  ssl?: boolean | object | undefined;
  /** Credentials; they take precedence over those in addresses. */
  sasl?: KafkaSasl | undefined;
}

/** Credentials in the format of kafkajs. */
export interface KafkaSasl {
  /** "plain", "scram-sha-256", "scram-sha-512", "aws", "oauthbearer", or a mechanism registered with kafkajs. */
  mechanism: string;
  [setting: string]: unknown;
}

export const DEFAULTS = Object.freeze({
  topic: "hivepace-bus",
  createTopic: true,
  groupPrefix: "hivepace-bus-",
  waitForBroker: false,
  connectTimeoutMs: 5_000,
  joinTimeoutMs: 30_000,
});

export type KafkaSettings = typeof DEFAULTS;

const NAME = /^[\w.-]{1,200}$/;
const NAME_RULE = "1 to 200 of the characters a-z, A-Z, 0-9, `.`, `_` and `-`";

export function checkOptions(options: KafkaBusOptions): KafkaSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings: KafkaSettings = { ...DEFAULTS, ...given };
  for (const option of ["topic", "groupPrefix"] as const)
    check(option, typeof settings[option] === "string" && NAME.test(settings[option]), NAME_RULE, settings);
  for (const option of ["createTopic", "waitForBroker"] as const)
    check(option, typeof settings[option] === "boolean", "true or false", settings);
  for (const option of ["connectTimeoutMs", "joinTimeoutMs"] as const)
    check(option, isAmount(settings[option]), AMOUNT, settings);
  return Object.freeze(settings);
}

const BROKERS = "a list of at least one `host:port`, or a function that returns one";
const PORT = 9092;

/** Returns the connection in the format of kafkajs, with credentials and TLS moved out of the addresses. */
export function readConnection(connection: KafkaConnection): KafkaConnection {
  const { brokers, sasl } = connection;
  // The error must never contain the password.
  check("sasl", sasl === undefined || typeof sasl.mechanism === "string", "an object with a `mechanism`", {
    sasl: { mechanism: sasl?.mechanism },
  });
  if (typeof brokers === "function") return connection;
  const isList = Array.isArray(brokers) && brokers.length > 0 && brokers.every((broker) => typeof broker === "string");
  check("brokers", isList, BROKERS, connection);
  const addresses = brokers.map((broker) => {
    const address = parseAddress(broker.includes("://") ? broker : `kafka://${broker}`);
    if (!address || !/^kafka(\+ssl)?$/.test(address.scheme)) throw new InvalidConfigError("brokers", BROKERS, brokers);
    return address;
  });
  const login = addresses.find(({ user, password }) => user !== undefined || password !== undefined);
  const { mechanism = "plain" } = login?.query ?? {};
  const own = login && { mechanism, username: login.user ?? "", password: login.password ?? "" };
  const isTls = addresses.some(({ scheme }) => scheme === "kafka+ssl");
  return {
    ...connection,
    brokers: addresses.flatMap(({ hosts }) => hosts.map((host) => hostText(host, PORT))),
    ...(sasl === undefined && own && { sasl: own }),
    ...(connection.ssl === undefined && isTls && { ssl: true }),
  };
}

function check<K extends string>(option: K, holds: boolean, rule: string, from: { readonly [P in K]?: unknown }): void {
  if (!holds) throw new InvalidConfigError(option, rule, from[option]);
}
