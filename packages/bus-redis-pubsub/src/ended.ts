import type { RedisClient } from "@hivepace/redis-client/types";

/** Resolves when a client has disconnected; call `disconnect` first. */
export function ended(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    if (client.status === "end") resolve();
    else client.on("end", () => resolve());
  });
}
