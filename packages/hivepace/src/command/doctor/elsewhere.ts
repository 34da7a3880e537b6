import { PRESENCE_SUBJECT } from "@hivepace/distributed";
import { parseBusAddress } from "@hivepace/open-bus";
import { openRedis, type RedisPlace } from "../redis/open-redis.ts";

/**
 * Returns other namespaces with subscribers on this broker. Only Redis can list them, and only for users with the right
 * to PUBSUB.
 */
export async function namespacesElsewhere(bus: string, own: string, place: Omit<RedisPlace, "url">): Promise<string[]> {
  const address = parseBusAddress(bus);
  if (address.kind !== "redis") return [];
  try {
    const redis = await openRedis({ ...place, url: address.url });
    try {
      const channels = (await redis.call("PUBSUB", "CHANNELS", `*${PRESENCE_SUBJECT}`)) as string[];
      return channels
        .map((channel) => namespaceOf(channel))
        .filter((name) => name !== undefined && name !== own) as string[];
    } finally {
      redis.close();
    }
  } catch {
    return [];
  }
}

function namespaceOf(channel: string): string | undefined {
  if (channel === PRESENCE_SUBJECT) return "";
  const [, prefix] = new RegExp(`^([^.]+)\\.${PRESENCE_SUBJECT.replace(".", "\\.")}$`).exec(channel) ?? [];
  try {
    return prefix === undefined ? undefined : decodeURIComponent(prefix);
  } catch {
    return undefined;
  }
}
