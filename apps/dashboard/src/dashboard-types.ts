import type { Clock } from "@hivepace/core";
import type { SwarmObserver } from "@hivepace/distributed";

export interface DashboardOptions {
  /** The observer of the swarm to show. Lent: closing the dashboard does not close the observer. */
  observer: SwarmObserver;
  /**
   * Heading of the page.
   * @defaultValue "Hivepace"
   */
  title?: string | undefined;
  /**
   * Interface to listen on.
   * @defaultValue "127.0.0.1", reachable only from this machine
   */
  host?: string | undefined;
  /**
   * Port to listen on; 0 selects a free port.
   * @defaultValue 0
   */
  port?: number | undefined;
  /** The provider's own counters, where they are known: in the demo. */
  provider?: (() => ProviderFacts | undefined) | undefined;
  /**
   * Usage of all instances, from a shared store. Without this option the page shows only what agents report on the bus.
   */
  globalUsage?: (() => readonly EndpointUsage[]) | undefined;
  /** Buttons of the page. Without controls, the server has no route that changes anything. */
  controls?: readonly Control[] | undefined;
  clock?: Clock | undefined;
}

export interface Dashboard extends AsyncDisposable {
  readonly url: string;
  /** Ends every connection at once. May be called twice. */
  close(): Promise<void>;
}

/** A button that acts on the observed swarm. */
export interface Control {
  /** Part of the URL: 1 to 64 letters, digits and hyphens. */
  readonly id: string;
  readonly label: string;
  /** Describes the effect of the button. */
  readonly about: string;
  /** Resolves with a sentence that describes the effect. A rejection is shown as an error. */
  run(): Promise<string>;
}

/** The provider's own counters, which the page shows next to the swarm's figures. */
export interface ProviderFacts {
  readonly limitRpm?: number | undefined;
  readonly limitTpm?: number | undefined;
  readonly windowMs: number;
  /** Requests since the provider started. */
  readonly accepted: number;
  readonly rejected429: number;
  /** Usage in the current window. */
  readonly usedRequests: number;
  readonly usedTokens: number;
}

export interface EndpointUsage {
  readonly endpoint: string;
  readonly model?: string | undefined;
  readonly rpm: number;
  readonly tpm: number;
  /** Usage of the tightest dimension, as a fraction of the limit. */
  readonly utilization: number;
  readonly agents: number;
  /** Age of these figures. */
  readonly ageMs: number;
}
