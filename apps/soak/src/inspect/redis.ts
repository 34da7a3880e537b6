import { Redis } from "ioredis";
import type { Inspection } from "./inspect.ts";

/** The longest time to live of a Hivepace key: two windows of a minute, and ten minutes. */
const LONGEST_MS = 720_000;

export async function inspectRedis(url: string): Promise<Inspection> {
  const client = new Redis(url, { maxRetriesPerRequest: 3 });
  try {
    const own = await client.client("ID");
    const lines = String(await client.client("LIST")).split("\n");
    const connections = lines.filter((line) => line !== "" && !line.startsWith(`id=${own} `)).length;
    const channels = (await client.pubsub("CHANNELS")) as string[];
    const counts = channels.length === 0 ? [] : ((await client.pubsub("NUMSUB", ...channels)) as (string | number)[]);
    const endless: string[] = [];
    const long: string[] = [];
    for (const key of await client.keys("*")) {
      const ttl = await client.pttl(key);
      if (ttl === -1) endless.push(key);
      else if (ttl > LONGEST_MS) long.push(key);
    }
    return {
      holdings: {
        "broker connections": connections,
        "broker channels": channels.length,
        "broker subscriptions": counts.filter((_, i) => i % 2 === 1).reduce<number>((sum, n) => sum + Number(n), 0),
        "broker patterns": Number(await client.pubsub("NUMPAT")),
      },
      wrong: [
        { name: "keys without an expiry", count: endless.length, which: endless },
        { name: "keys with too late an expiry", count: long.length, which: long },
      ],
    };
  } finally {
    client.disconnect();
  }
}
