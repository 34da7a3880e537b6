import type { RedisClient, RedisPipeline } from "../port.ts";
import { PortEmitter } from "../port-emitter.ts";
import type { NodeRedisClient } from "./library.ts";

/** Disables the owner's type mapping, so that replies have the types of the port. */
export const PLAIN = { typeMapping: {} };

type Send = (key: string, args: readonly string[]) => Promise<unknown>;

/** Collects commands. node-redis writes once per turn of the event loop, so they go out in one write. */
export class NodeRedisPipeline implements RedisPipeline {
  readonly #send: Send;
  readonly #commands: { readonly key: string; readonly args: readonly string[] }[] = [];

  constructor(send: Send) {
    this.#send = send;
  }

  evalsha(sha: string, keyCount: number, ...args: string[]): void {
    this.#commands.push({ key: args[0] ?? "", args: ["EVALSHA", sha, String(keyCount), ...args] });
  }

  eval(script: string, keyCount: number, ...args: string[]): void {
    this.#commands.push({ key: args[0] ?? "", args: ["EVAL", script, String(keyCount), ...args] });
  }

  async exec(): Promise<[error: Error | null, reply?: unknown][]> {
    const settled = await Promise.allSettled(this.#commands.map(({ key, args }) => this.#send(key, args)));
    return settled.map((one) => (one.status === "fulfilled" ? [null, one.value] : [one.reason as Error]));
  }
}

/** The commands of the port, common to all adapters of node-redis clients. */
export abstract class NodeRedisAdapter extends PortEmitter implements RedisClient {
  abstract readonly status: string;
  abstract readonly options: RedisClient["options"];
  abstract connect(): Promise<unknown>;
  abstract disconnect(): void;
  abstract duplicate(override?: object): RedisClient;

  /** The client to send on, or `undefined` if none is connected. */
  protected abstract readonly target: NodeRedisClient | undefined;

  /** The socket; `ref` and `unref` control whether it keeps the process alive. */
  get stream(): { ref(): void; unref(): void } | undefined {
    return this.target;
  }

  /** Sends any command. */
  ask(...args: readonly string[]): Promise<unknown> {
    return this.#send(args);
  }

  ping(): Promise<unknown> {
    return this.#send(["PING"]);
  }

  publish(channel: string, message: Uint8Array | string): Promise<unknown> {
    return this.#send(["PUBLISH", channel, message]);
  }

  async subscribe(channel: string): Promise<void> {
    await this.#needed().subscribe(channel, this.#onMessage, true);
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#needed().unsubscribe(channel);
  }

  pipeline(): RedisPipeline {
    return new NodeRedisPipeline((_, args) => this.#send(args));
  }

  readonly #onMessage = (payload: unknown, channel: unknown): void => this.emit("messageBuffer", channel, payload);

  async #send(args: readonly (string | Uint8Array)[]): Promise<unknown> {
    return this.#needed().sendCommand(args, PLAIN);
  }

  #needed(): NodeRedisClient {
    if (!this.target) throw new Error("the client is not connected");
    return this.target;
  }
}
