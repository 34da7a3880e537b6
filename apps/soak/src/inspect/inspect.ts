import type { OwnServer } from "@hivepace/servers";
import type { Remains } from "../judge.ts";
import type { BrokerKind, Holdings } from "../words.ts";
import { lookAtKafka } from "./kafka.ts";
import { lookAtNats } from "./nats.ts";
import { lookAtRedis } from "./redis.ts";

/** The resources of the swarm on a broker, without the connection that inspects it. */
export interface Sight {
  /** Counts that must not grow, and must be 0 after all agents have left. */
  readonly holdings: Holdings;
  /** Resources that must never exist. */
  readonly wrong: readonly Remains[];
}

const LOOKS: Readonly<Record<BrokerKind, (url: string) => Promise<Sight>>> = {
  nats: lookAtNats,
  redis: lookAtRedis,
  kafka: lookAtKafka,
};

/** Inspects a broker on a temporary connection. */
export function lookAt(kind: BrokerKind, { url }: Pick<OwnServer, "url">): Promise<Sight> {
  return LOOKS[kind](url);
}
