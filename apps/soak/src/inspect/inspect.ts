import type { OwnServer } from "@hivepace/servers";
import type { Remains } from "../judge.ts";
import type { BrokerKind, Holdings } from "../words.ts";
import { inspectKafka } from "./kafka.ts";
import { inspectNats } from "./nats.ts";
import { inspectRedis } from "./redis.ts";

/** The resources of the swarm on a broker, without the connection that inspects it. */
export interface Inspection {
  /** Counts that must not grow, and must be 0 after all agents have left. */
  readonly holdings: Holdings;
  /** Resources that must never exist. */
  readonly wrong: readonly Remains[];
}

const INSPECTIONS: Readonly<Record<BrokerKind, (url: string) => Promise<Inspection>>> = {
  nats: inspectNats,
  redis: inspectRedis,
  kafka: inspectKafka,
};

/** Inspects a broker on a temporary connection. */
export function inspectBroker(kind: BrokerKind, { url }: Pick<OwnServer, "url">): Promise<Inspection> {
  return INSPECTIONS[kind](url);
}
