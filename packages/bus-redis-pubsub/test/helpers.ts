import { execFile } from "node:child_process";
import type { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { MessageBus } from "@hivepace/bus";
import type { OwnersClient } from "@hivepace/redis-client/testing";
import { Cluster as Cluster6, Redis as Redis6 } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import type { LentRedisClient, RedisClient, RedisClusterClient } from "../src/index.ts";

interface Version {
  readonly version: string;
  readonly Redis: new (url: string, options: object) => RedisClient & EventEmitter;
  readonly Sentinel: new (options: object) => RedisClient & EventEmitter;
  readonly Cluster: new (nodes: { host: string; port: number }[], options: object) => RedisClusterClient & EventEmitter;
}

export const versions: readonly Version[] = [
  { version: "ioredis 6", Redis: Redis6, Sentinel: Redis6, Cluster: Cluster6 },
  { version: "ioredis 5", Redis: Redis5, Sentinel: Redis5, Cluster: Cluster5 },
];

/** Closes objects after each test, in reverse order of opening. */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  add<T>(thing: T, close: (thing: T) => unknown): T {
    this.#closers.unshift(() => close(thing));
    return thing;
  }

  async bus(opening: Promise<MessageBus>): Promise<MessageBus> {
    return this.add(await opening, (bus) => bus.close());
  }

  client<T extends { disconnect(): void; on(event: "error", listener: () => void): unknown }>(client: T): T {
    client.on("error", () => {});
    return this.add(client, () => client.disconnect());
  }

  /** Registers a client, which is closed after everything that uses it. */
  lend(owned: OwnersClient): LentRedisClient {
    return this.add(owned, () => owned.close()).client;
  }

  readonly close = async (): Promise<void> => {
    for (const close of this.#closers.splice(0)) await close();
  };
}

/** Runs the fixture, which opens, uses and closes a bus; fails unless the process then exits by itself. */
export async function endsByItself(how: string, host: string, port: number, client: string): Promise<void> {
  const fixture = fileURLToPath(new URL("fixtures/open-and-close.ts", import.meta.url));
  const args = ["--conditions", "@hivepace/source", "--import", "tsx", fixture, how, host, `${port}`, client];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  if (stdout !== "closed\n") throw new Error(`expected the fixture to print "closed", got ${JSON.stringify(stdout)}`);
}
