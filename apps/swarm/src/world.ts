import type { startDashboard } from "@hivepace/dashboard";
import type { BusKind } from "@hivepace/open-bus";

/** Where text goes. Node's `process.stdout` is one. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type BrokerKind = Exclude<BusKind, "memory">;

/** A server that the demo may kill and start again at its place. */
export interface DemoServer {
  /** `redis://host:port`, `nats://host:port`, or Kafka's `host:port`. */
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Everything around the demo that is not the demo. */
export interface DemoWorld {
  readonly stdout: Screen;
  readonly stderr: Screen;
  /** Aborted: stop everything, now. */
  readonly signal: AbortSignal;
  /** Servers for `--bus nats` and the like. Without this such a bus needs an address. */
  readonly startServer?: ((kind: BrokerKind) => Promise<DemoServer>) | undefined;
  /** The page. Without this there is none. */
  readonly openDashboard?: typeof startDashboard | undefined;
  /** The program of an agent, as JavaScript. Default: `agent.js` beside this module. */
  readonly agentFile?: (() => Promise<URL>) | undefined;
}
