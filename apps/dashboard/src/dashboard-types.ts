import type { Clock } from "@hivepace/core";
import type { SwarmObserver } from "@hivepace/distributed";

export interface DashboardOptions {
  /** What is shown. Lent: it stays open when the dashboard is closed. */
  observer: SwarmObserver;
  /** Stands above everything. Default: "Hivepace". */
  title?: string | undefined;
  /** Where it listens. Default: 127.0.0.1, which only this machine reaches. */
  host?: string | undefined;
  /** Default: 0, any that is free. */
  port?: number | undefined;
  /** What the provider itself counts, where that is known: in the demo. */
  provider?: (() => ProviderFacts | undefined) | undefined;
  /** What all instances use, through a store. Without, the page shows what the agents say on the bus. */
  globalUsage?: (() => readonly EndpointUsage[]) | undefined;
  /** Buttons. Without any, the page has none and the server no such route. */
  controls?: readonly Control[] | undefined;
  clock?: Clock | undefined;
}

export interface Dashboard extends AsyncDisposable {
  readonly url: string;
  /** Ends every connection at once. May be called twice. */
  close(): Promise<void>;
}

/** A button that does something to what is shown. */
export interface Control {
  /** In the address: letters, digits and hyphens. */
  readonly id: string;
  readonly label: string;
  /** What it will do, for those who wonder. */
  readonly about: string;
  /** Says in a sentence what was done. A rejection is shown as an error. */
  run(): Promise<string>;
}

/** The truth beside what the swarm believes. */
export interface ProviderFacts {
  readonly limitRpm?: number | undefined;
  readonly limitTpm?: number | undefined;
  readonly windowMs: number;
  /** Since it started. */
  readonly accepted: number;
  readonly rejected429: number;
  /** In the present window. */
  readonly usedRequests: number;
  readonly usedTokens: number;
}

export interface EndpointUsage {
  readonly endpoint: string;
  readonly model?: string | undefined;
  readonly rpm: number;
  readonly tpm: number;
  /** Of the tightest dimension; 1 is all of it. */
  readonly utilization: number;
  readonly agents: number;
  /** How old these figures are. */
  readonly ageMs: number;
}
