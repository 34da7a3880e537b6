import type { DriverBusOptions } from "@hivepace/bus";
import { InvalidConfigError } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";

/** How a bus behaves, on a client of its own or on a lent one. */
export interface KafkaBusOptions extends Pick<DriverBusOptions, "publishTimeoutMs" | "closeTimeoutMs"> {
  /** The topic that carries all messages. Default: "hivepace-bus". */
  topic?: string | undefined;
  /** Whether to create the topic if it does not exist. Default: true. */
  createTopic?: boolean | undefined;
  /** What the names of our consumer groups begin with, for an ACL to name. Default: "hivepace-bus-". */
  groupPrefix?: string | undefined;
  /** Whether to resolve without a broker and wait for it in the background. Default: false. */
  waitForBroker?: boolean | undefined;
  /** How long reaching the broker may take. Default: 5 seconds. */
  connectTimeoutMs?: number | undefined;
  /** How long joining may take once the broker is reached; it waits 3 seconds of its own accord. Default: 30 seconds. */
  joinTimeoutMs?: number | undefined;
}

/** How to get to the broker, as kafkajs takes it. */
export interface KafkaConnection {
  /** `host:port` of some brokers, or what finds them. */
  brokers: readonly string[] | (() => readonly string[] | Promise<readonly string[]>);
  /** Default: "hivepace". */
  clientId?: string | undefined;
  /** `true`, or the options of Node's `tls.connect`. */
  ssl?: boolean | object | undefined;
  sasl?: KafkaSasl | undefined;
}

/** Credentials, as kafkajs takes them. */
export interface KafkaSasl {
  /** "plain", "scram-sha-256", "scram-sha-512", "aws", "oauthbearer", or one that kafkajs was taught. */
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

export function checkConnection(connection: KafkaConnection): void {
  const { brokers, sasl } = connection;
  const list = typeof brokers === "function" ? ["found later"] : brokers;
  const isList = Array.isArray(list) && list.length > 0 && list.every((broker) => typeof broker === "string");
  check("brokers", isList, "a list of at least one `host:port`, or a function that gives one", connection);
  check("sasl", sasl === undefined || typeof sasl.mechanism === "string", "an object with a `mechanism`", {
    // Never the password.
    sasl: { mechanism: sasl?.mechanism },
  });
}

function check<K extends string>(option: K, holds: boolean, rule: string, from: { readonly [P in K]?: unknown }): void {
  if (!holds) throw new InvalidConfigError(option, rule, from[option]);
}
