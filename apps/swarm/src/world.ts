import type { startDashboard } from "@hivepace/dashboard";
import type { BusKind } from "@hivepace/open-bus";

/** An output stream for text, such as Node's `process.stdout`. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type BrokerKind = Exclude<BusKind, "memory">;

/** A server that the demo may kill and restart at the same address. */
export interface DemoServer {
  /** `redis://host:port`, `nats://host:port`, or Kafka's `host:port`. */
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The environment that the demo runs in. */
export interface DemoWorld {
  readonly stdout: Screen;
  readonly stderr: Screen;
  /** Aborting stops the demo at once. */
  readonly signal: AbortSignal;
  /** Starts a server for `--bus nats` and the like. Without this function such a bus needs an address. */
  readonly startServer?: ((kind: BrokerKind) => Promise<DemoServer>) | undefined;
  /** Opens the page. Without this function there is no page. */
  readonly openDashboard?: typeof startDashboard | undefined;
  /** Returns the agent's program, as JavaScript. Default: `agent.js` next to this module. */
  readonly agentFile?: (() => Promise<URL>) | undefined;
}
