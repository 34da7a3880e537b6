import type { SwarmObserver } from "@hivepace/distributed";
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

/** What the provider says of itself. Counts are since the start; `used…` is in the present window. */
export interface ProviderFacts {
  readonly limitRpm?: number | undefined;
  readonly limitTpm?: number | undefined;
  readonly windowMs: number;
  readonly accepted: number;
  readonly rejected429: number;
  readonly usedRequests: number;
  readonly usedTokens: number;
}

/** Something that whoever watches can do. `run` returns a sentence of what was done. */
export interface Control {
  readonly id: string;
  readonly label: string;
  readonly about: string;
  run(): Promise<string>;
}

export interface DashboardOptions {
  readonly observer: SwarmObserver;
  readonly title: string;
  readonly port: number;
  readonly provider: () => ProviderFacts | undefined;
  readonly controls: readonly Control[];
}

export interface OpenDashboard {
  readonly url: string;
  close(): Promise<void>;
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
  readonly openDashboard?: ((options: DashboardOptions) => Promise<OpenDashboard>) | undefined;
  /** The program of an agent, as JavaScript. Default: `agent.js` beside this module. */
  readonly agentFile?: (() => Promise<URL>) | undefined;
}
