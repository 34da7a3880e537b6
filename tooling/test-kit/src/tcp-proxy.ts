import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that simulates network faults between a client and a server. */
export interface TcpProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Number of open connections. */
  readonly connections: number;
  /** Total number of accepted connections. */
  readonly accepted: number;
  /** Accepts and reads, but forwards nothing in either direction: a server that never answers. */
  swallow(): void;
  /** Forwards again, on new connections; earlier ones stay silent. */
  pass(): void;
  /** Resets every open connection. */
  cut(): void;
  /** Forwards this number of bytes of the server's next replies, and then ends that connection. Applies once. */
  cutReplyAfter(bytes: number): void;
  /** Refuses new connections, or accepts them again. Refusing also resets open connections. */
  refuse(isRefused: boolean): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function tcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let [isSilent, isRefused, accepted] = [false, false, 0];
  let left: number | undefined;

  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server.destroy();
  };
  const cut = (): void => {
    for (const pair of [...pairs]) end(pair);
  };

  const listener = createServer((client) => {
    accepted++;
    if (isRefused) {
      client.resetAndDestroy();
      return;
    }
    const pair: Pair = { client, server: connect(target) };
    pairs.add(pair);
    let isMute = isSilent;
    const mayPass = (): boolean => {
      isMute ||= isSilent;
      return !isMute;
    };
    client.on("data", (chunk) => mayPass() && pair.server.write(chunk));
    pair.server.on("data", (chunk) => {
      if (!mayPass()) return;
      if (left === undefined || chunk.length <= left) {
        if (left !== undefined) left -= chunk.length;
        client.write(chunk);
        return;
      }
      const part = chunk.subarray(0, left);
      left = undefined;
      // The partial reply must be flushed before the reset.
      client.write(part, () => end(pair));
    });
    for (const socket of [client, pair.server]) {
      socket.on("error", () => end(pair));
      socket.on("close", () => end(pair));
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;

  const close = async (): Promise<void> => {
    cut();
    await new Promise((resolve) => listener.close(resolve));
  };
  return {
    host: "127.0.0.1",
    port,
    get connections() {
      return pairs.size;
    },
    get accepted() {
      return accepted;
    },
    swallow() {
      isSilent = true;
    },
    pass() {
      isSilent = false;
    },
    cut,
    cutReplyAfter(bytes) {
      left = bytes;
    },
    refuse(shall) {
      isRefused = shall;
      if (shall) cut();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
