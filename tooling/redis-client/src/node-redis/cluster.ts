import { systemClock } from "@hivepace/core";
import { keySlot } from "../key-slot.ts";
import type { RedisClient, RedisClusterClient, RedisPipeline } from "../port.ts";
import { PortEmitter } from "../port-emitter.ts";
import { NodeRedisPipeline, PLAIN } from "./commands.ts";
import { LentNodeClient } from "./lent-client.ts";
import { follow, type NodeRedisClient, type NodeRedisCluster, type NodeRedisClusterNode } from "./library.ts";

/** A method that node-redis does not declare: refreshes the list of nodes from one node. */
interface Undeclared {
  readonly _slots?: { rediscover?(startWith: NodeRedisClient): Promise<unknown> };
}

/** Milliseconds between refreshes of the node list while a node is missing. */
const HURRIED_REFRESH_MS = 500;

/** Adapts a Cluster client of node-redis, lent or owned, to the port. */
abstract class NodeClusterAdapter extends PortEmitter implements RedisClusterClient {
  readonly isCluster = true;
  /** The nodes reconnect by themselves, so a bus must not end their connections. */
  readonly nodesReconnect = true;
  readonly options = {};
  readonly slots: readonly (readonly string[])[] = [];
  protected readonly cluster: NodeRedisCluster;
  readonly #nodes = new WeakMap<NodeRedisClient, LentNodeClient>();
  #refreshedAt = Number.NEGATIVE_INFINITY;

  constructor(cluster: NodeRedisCluster) {
    super();
    this.cluster = cluster;
  }

  abstract readonly status: string;
  abstract connect(): Promise<unknown>;
  abstract disconnect(): void;

  /** Returns the address of the master of a slot. */
  ownerOf(slot: number): string {
    return this.cluster.slots[slot]?.master.address ?? "";
  }

  nodes(role: "all" | "master" = "all"): RedisClient[] {
    const { masters, replicas } = this.cluster;
    return [...masters, ...(role === "all" ? replicas : [])].flatMap((node) => {
      const { client, host, port } = node;
      if (!client) {
        this.#connectNode(node);
        return [];
      }
      const known = this.#nodes.get(client) ?? new LentNodeClient(client, { host, port }, true);
      this.#nodes.set(client, known);
      return [known];
    });
  }

  async ping(): Promise<unknown> {
    const ready = this.nodes("master").find(({ status }) => status === "ready");
    if (!ready) throw new Error("no node is connected");
    return ready.ping();
  }

  pipeline(): RedisPipeline {
    return new NodeRedisPipeline((key, args) => this.#send(key, args));
  }

  /** Refreshes the list of nodes. */
  protected async refresh(): Promise<void> {
    this.#refreshedAt = systemClock.now();
    const ready = this.cluster.masters.find(({ client }) => client?.isReady)?.client;
    const any = ready ?? this.cluster.masters.find(({ client }) => client)?.client;
    // After a failure the list stays unchanged until the next refresh.
    if (any) await (this.cluster as Undeclared)._slots?.rediscover?.(any).catch(() => {});
  }

  async #send(key: string, args: readonly string[]): Promise<unknown> {
    const node = this.cluster.slots[keySlot(key)]?.master;
    if (!node) throw new Error("no node has the slot of this key");
    if (!node.client) await this.#connectNode(node);
    // node-redis would queue a command for a disconnected node and send it later.
    if (!node.client?.isReady) {
      if (systemClock.now() - this.#refreshedAt > HURRIED_REFRESH_MS) void this.refresh();
      throw new Error(`the node ${node.address} is not connected`);
    }
    return this.cluster.sendCommand(key, false, args, PLAIN);
  }

  /** Resolves when the first attempt has succeeded or failed. */
  #connectNode(node: NodeRedisClusterNode): Promise<void> {
    const connecting = Promise.resolve(this.cluster.nodeClient(node as never)).then(
      () => {},
      () => {},
    );
    const { client } = node;
    if (!client) return connecting;
    const failed = new Promise<void>((resolve) => {
      const leave = follow(client, { error: () => done(), ready: () => done() });
      const done = (): void => {
        leave();
        resolve();
      };
    });
    return Promise.race([connecting, failed]);
  }

  /** Connects to all reachable masters. */
  protected async connectNodes(): Promise<void> {
    await Promise.all(this.cluster.masters.map((node) => this.#connectNode(node)));
  }
}

/** A lent Cluster client, which its owner connects. */
export class LentNodeCluster extends NodeClusterAdapter {
  get status(): "connecting" | "ready" | "end" {
    if (!this.cluster.isOpen) return "end";
    return this.cluster.masters.length > 0 ? "ready" : "connecting";
  }

  async connect(): Promise<void> {}

  /** Does nothing: only the owner ends a lent client. */
  disconnect(): void {}

  protected watch(): () => void {
    const unfollow = follow(this.cluster, {
      connect: () => this.emit("ready"),
      error: (error: unknown) => {
        this.emit("node error", error);
        if (!this.cluster.isOpen) this.#over();
      },
      "node-error": (error: unknown) => this.emit("node error", error),
      disconnect: () => this.#over(),
    });
    return unfollow;
  }

  #over(): void {
    this.emit("close");
    this.emit("end");
  }
}

export interface OwnClusterSettings {
  readonly refreshMs: number;
  /** Returns the pause before another attempt; without it there is one attempt. */
  readonly retryMs: ((failures: number) => number) | undefined;
}

/** An owned Cluster client. */
export class OwnNodeCluster extends NodeClusterAdapter {
  status: "wait" | "connecting" | "ready" | "end" = "wait";
  readonly #settings: OwnClusterSettings;
  readonly #abort: AbortController;
  #cancel = (): void => {};

  constructor(make: (signal: AbortSignal) => NodeRedisCluster, settings: OwnClusterSettings) {
    const abort = new AbortController();
    super(make(abort.signal));
    this.#abort = abort;
    this.#settings = settings;
    this.cluster.on("error", (error: unknown) => this.emit("node error", error));
    this.cluster.on("node-error", (error: unknown) => this.emit("node error", error));
  }

  async connect(): Promise<void> {
    if (this.status !== "wait") throw new Error("a Cluster client is connected only once");
    this.status = "connecting";
    for (let failures = 0; !this.#isOver; failures++) {
      try {
        await this.cluster.connect();
        break;
      } catch (error) {
        const pauseMs = this.#settings.retryMs?.(failures);
        if (pauseMs === undefined) this.disconnect();
        else this.emit("close");
        if (pauseMs === undefined || this.#isOver) throw error;
        await new Promise<void>((resolve) => {
          const cancel = systemClock.after(pauseMs, resolve);
          this.#cancel = () => {
            cancel();
            resolve();
          };
        });
      }
    }
    if (!this.#isOver) await this.connectNodes();
    if (this.#isOver) {
      this.#destroy();
      throw new Error("the Cluster client was closed");
    }
    this.status = "ready";
    this.emit("ready");
    this.#refreshLater();
  }

  disconnect(): void {
    if (this.#isOver) return;
    this.status = "end";
    this.#cancel();
    this.#destroy();
    this.#abort.abort();
    this.emit("close");
    this.emit("end");
  }

  protected watch(): () => void {
    return () => {};
  }

  get #isOver(): boolean {
    return this.status === "end";
  }

  #destroy(): void {
    for (const node of [...this.cluster.masters, ...this.cluster.replicas])
      if (node.client?.isOpen) node.client.destroy();
    try {
      if (this.cluster.isOpen) this.cluster.destroy();
    } catch {
      // The connections are closed already.
    }
  }

  #refreshLater(): void {
    this.#cancel = systemClock.after(
      this.#settings.refreshMs,
      async () => {
        await this.refresh();
        if (!this.#isOver) this.#refreshLater();
      },
      { background: true },
    );
  }
}
