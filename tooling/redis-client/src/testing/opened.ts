import type { LentRedisClient } from "../../types.ts";
import type { OwnersClient } from "./index.ts";

/** Closes objects after each test, in reverse order of opening. */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  add<T>(thing: T, close: (thing: T) => unknown): T {
    this.#closers.unshift(() => close(thing));
    return thing;
  }

  /** Awaits a bus or a store, and registers it. */
  async open<T extends { close(): unknown }>(opening: Promise<T>): Promise<T> {
    return this.add(await opening, (thing) => thing.close());
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
