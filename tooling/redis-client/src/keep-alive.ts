import type { AnyRedisClient } from "./port.ts";

/**
 * Sets whether the open connection of a client of one server keeps the process alive. The connections of Cluster nodes
 * are managed by their client.
 */
export function keepAlive(client: AnyRedisClient, isNeeded: boolean): void {
  const { stream } = client as { stream?: { ref?(): void; unref?(): void } };
  if (isNeeded) stream?.ref?.();
  else stream?.unref?.();
}
