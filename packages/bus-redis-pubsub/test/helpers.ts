import { execFile } from "node:child_process";
import type { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { MessageBus } from "@hivepace/bus";
import { Cluster as Cluster6, Redis as Redis6 } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import type { RedisClient, RedisClusterClient } from "../src/index.ts";

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

/** What is closed after each test, the last opened first. */
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

  readonly close = async (): Promise<void> => {
    for (const close of this.#closers.splice(0)) await close();
  };
}

/** Runs the fixture, which opens a bus, uses and closes it; fails unless the process then ends by itself. */
export async function endsByItself(how: string, host: string, port: number): Promise<void> {
  const fixture = fileURLToPath(new URL("fixtures/open-and-close.ts", import.meta.url));
  const args = ["--conditions", "@hivepace/source", "--import", "tsx", fixture, how, host, `${port}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  if (stdout !== "closed\n") throw new Error(`expected it to say that it is closed, got ${JSON.stringify(stdout)}`);
}
