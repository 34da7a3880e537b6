import { connect } from "node:net";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A readiness check by a minimal client of the server's protocol. */
export interface Probe {
  /** Sent as soon as the connection is established. */
  readonly greeting: Uint8Array | string;
  /** Judges everything received so far: ready, not ready, or undefined while undecided. */
  judge(received: Buffer, send: (data: string) => void): boolean | undefined;
}

/** Makes one attempt: resolves with true when the server answers as a ready one, and false for anything else. */
export function answers({ host, port }: Address, probe: Probe, timeoutMs = 2_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let received: Buffer = Buffer.alloc(0);
    const settle = (ready: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(ready);
    };
    const timer = setTimeout(settle, timeoutMs, false);
    socket.once("connect", () => socket.write(probe.greeting));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const ready = probe.judge(received, (data) => socket.write(data));
      if (ready !== undefined) settle(ready);
    });
    socket.once("error", () => settle(false));
    socket.once("close", () => settle(false));
  });
}

export const redisProbe: Probe = {
  greeting: "PING\r\n",
  judge(received) {
    const text = received.toString("latin1");
    if (!text.includes("\r\n")) return undefined;
    // A demand for a password counts as an answer; `-LOADING` does not.
    return text.startsWith("+PONG") || text.startsWith("-NOAUTH");
  },
};

export const natsProbe: Probe = {
  greeting: "",
  judge(received, send) {
    const lines = received.toString("latin1").split("\r\n");
    const info = lines[0];
    if (info === undefined || lines.length < 2) return undefined;
    if (!info.startsWith("INFO ")) return false;
    const { auth_required, tls_required } = JSON.parse(info.slice("INFO ".length)) as Record<string, unknown>;
    if (auth_required === true || tls_required === true) return true;
    if (lines.length === 2) send('CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n');
    return lines.includes("PONG") ? true : undefined;
  },
};

/**
 * A Metadata request about no topic, version 2, which every Kafka and librdkafka's mock support. All integers are
 * big-endian:
 *
 *   request   size i32 | api key i16 = 3 | version i16 = 2 | correlation i32 | client id i16 = -1 (none) | topics i32 = 0
 *   response  size i32 | correlation i32 | number of brokers i32 | …
 *
 * ApiVersions would be answered before the broker has joined its own cluster; a broker that lists itself is usable.
 */
export const kafkaProbe: Probe = {
  greeting: Buffer.from([0, 0, 0, 14, 0, 3, 0, 2, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0]),
  judge(received) {
    return received.length < 12 ? undefined : received.readInt32BE(8) > 0;
  },
};
