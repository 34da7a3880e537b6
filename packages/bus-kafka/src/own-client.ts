import { BusUnavailableError } from "@hivepace/bus";
import { warn } from "@hivepace/core/internal";
import { letProcessEnd } from "./background-timers.ts";
import type { KafkaClient, LinkClient } from "./client.ts";
import type { KafkaConnection } from "./options.ts";

const REQUEST_TIMEOUT_MS = 5_000;

interface SocketRequest {
  readonly host: string;
  readonly port: number;
  readonly ssl: object | null | undefined;
  readonly onConnect: () => void;
}

interface LogEntry {
  readonly log: { readonly message: string };
}

interface KafkaJs {
  readonly Kafka: new (config: object) => KafkaClient;
  readonly logLevel: { readonly ERROR: number };
}

/** Loads kafkajs; returns a factory that creates one client for each link. */
export async function ownClients(connection: KafkaConnection, connectTimeoutMs: number): Promise<() => LinkClient> {
  const { Kafka, logLevel } = await loadKafkaJs();
  const [net, tls] = await Promise.all([import("node:net"), import("node:tls")]);
  const { brokers, clientId = "hivepace", ssl, sasl } = connection;

  return () => {
    // Destroying sockets is necessary: kafkajs waits for answers before it releases a socket, and a socket that
    // connects late keeps a timer running for ever.
    const sockets = new Set<{ destroy(error: Error): unknown }>();
    let isCut = false;
    const socketFactory = ({ host, port, ssl, onConnect }: SocketRequest) => {
      if (isCut) throw new Error("the connection was closed");
      const name = net.isIP(host) === 0 ? { servername: host } : {};
      const socket = ssl
        ? tls.connect({ host, port, ...name, ...ssl }, onConnect)
        : net.connect({ host, port }, onConnect);
      socket.setKeepAlive(true, 60_000);
      socket.setNoDelay(true);
      socket.unref();
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      return socket;
    };
    const kafka = new Kafka({
      brokers,
      clientId,
      ssl,
      // kafkajs writes to this object, so it gets a copy.
      sasl: sasl && { ...sasl },
      connectionTimeout: connectTimeoutMs,
      authenticationTimeout: connectTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      retry: { retries: 0 },
      socketFactory,
      logLevel: logLevel.ERROR,
      logCreator: () => say,
    });
    letProcessEnd(kafka);
    const cut = (): void => {
      isCut = true;
      for (const socket of sockets) socket.destroy(new Error("the connection was closed"));
    };
    return { kafka, cut };
  };
}

/** Reports the one log message of kafkajs that neither the state of the bus nor an error conveys. */
function say({ log }: LogEntry): void {
  if (log.message.startsWith("Offset out of range"))
    warn("HIVEPACE_KAFKA_LOST", `the kafka bus missed messages that were deleted before it could read them`);
}

async function loadKafkaJs(): Promise<KafkaJs> {
  try {
    const loaded: { default?: unknown } = await import("kafkajs");
    return (loaded.default ?? loaded) as KafkaJs;
  } catch (cause) {
    // kafkajs may be installed and still fail to load, so the error includes the reason.
    const reason = (cause as Error).message.trim();
    const detail = `kafkajs could not be loaded: npm install kafkajs (import failed: ${reason})`;
    throw new BusUnavailableError("kafka", detail, { cause });
  }
}
