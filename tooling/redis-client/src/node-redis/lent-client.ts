import { NodeRedisAdapter } from "./commands.ts";
import { follow, type NodeRedisClient } from "./library.ts";
import { OwnNodeClient, onceOnly } from "./own-client.ts";

type Address = { readonly host?: string; readonly port?: number };

/** Adapts a lent client of node-redis. `isNode`: the client belongs to a Cluster client, which connects it. */
export class LentNodeClient extends NodeRedisAdapter {
  readonly options: Address;
  protected readonly target: NodeRedisClient;
  readonly #isNode: boolean;

  constructor(client: NodeRedisClient, address: Address = {}, isNode = false) {
    super();
    this.target = client;
    this.options = address;
    this.#isNode = isNode;
  }

  get status(): "wait" | "connecting" | "ready" | "end" {
    const { isOpen, isReady, socketEpoch = 0 } = this.target;
    if (isReady) return "ready";
    if (isOpen) return "connecting";
    // A client that was connected before was closed by its owner, or gave up.
    return this.#isNode || socketEpoch > 0 ? "end" : "wait";
  }

  connect(): Promise<unknown> {
    return this.target.connect();
  }

  /** Does nothing: only the owner ends a lent client. */
  disconnect(): void {}

  duplicate(override: { readonly connectTimeout?: number } = {}): OwnNodeClient {
    return duplicateOf(() => this.target, override.connectTimeout, this.options);
  }

  protected watch(): () => void {
    return followClient(this.target, (event, ...args) => this.emit(event, ...args));
  }
}

/** Translates events of a node-redis client to those of the port. "close" carries the error that ended the attempt. */
export function followClient(client: NodeRedisClient, emit: (event: string, ...args: unknown[]) => void): () => void {
  return follow(client, {
    ready: () => emit("ready"),
    error: (error: unknown) => {
      emit("error", error);
      if (client.isReady) return;
      emit("close", error);
      if (!client.isOpen) emit("end");
    },
    end: () => {
      emit("close");
      emit("end");
    },
  });
}

/** Creates an owned connection with the settings that the current client has when the connection opens. */
export function duplicateOf(
  current: () => NodeRedisClient | Promise<NodeRedisClient>,
  connectTimeoutMs = 5_000,
  address: Address = {},
): OwnNodeClient {
  const dial = async (signal: AbortSignal): Promise<NodeRedisClient> => {
    const client = await current();
    const { socket } = (client.options ?? {}) as { socket?: object };
    return client.duplicate({
      disableOfflineQueue: true,
      pingInterval: undefined,
      socket: { ...socket, ...onceOnly(connectTimeoutMs, signal) },
    }) as NodeRedisClient;
  };
  return new OwnNodeClient(dial, address);
}
