import type { OwnServer } from "@hivepace/servers";
import type { Remains } from "../judge.ts";
import type { BrokerKind, Holdings } from "../words.ts";
import { lookAtKafka } from "./kafka.ts";
import { lookAtNats } from "./nats.ts";
import { lookAtRedis } from "./redis.ts";

/** What a broker holds of us. The connection that looks is not counted. */
export interface Sight {
  /** Must not grow, and must be none when all have left. */
  readonly holdings: Holdings;
  /** Must not be there, ever. */
  readonly wrong: readonly Remains[];
}

const LOOKS: Readonly<Record<BrokerKind, (url: string) => Promise<Sight>>> = {
  nats: lookAtNats,
  redis: lookAtRedis,
  kafka: lookAtKafka,
};

/** Looks at a broker, on a connection of its own that is closed again. */
export function lookAt(kind: BrokerKind, { url }: Pick<OwnServer, "url">): Promise<Sight> {
  return LOOKS[kind](url);
}
