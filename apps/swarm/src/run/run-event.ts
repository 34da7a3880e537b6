import type { SwarmMode } from "@hivepace/distributed";
import type { SwarmNews } from "./watch.ts";

/** The swarm as it is now, for the screen. */
export interface Progress {
  readonly type: "progress";
  /** What is left of the swarm's limit, at the agent that has least. */
  readonly level: number;
  /** What the provider allows now, and what is used of it in its present window: 0 to 1, of the scarcer limit. */
  readonly allowed: number;
  readonly used: number;
  readonly sent: number;
  readonly accepted: number;
  readonly rejected429: number;
  readonly agents: readonly AgentProgress[];
}

interface AgentProgress {
  readonly agentId: string;
  readonly mode: SwarmMode | undefined;
  /** In limits. */
  readonly share: number;
  readonly used: number;
  readonly waiting: number;
}

/** What happens in a run, in the order of happening. */
export type RunEvent =
  | { readonly type: "started"; readonly agents: number; readonly tookMs: number }
  /** The provider allows this part of its limit from now on. */
  | { readonly type: "limit"; readonly part: number; readonly rpm: number; readonly tpm: number }
  | { readonly type: "crashed"; readonly agentId: string; readonly isPlanned: boolean }
  | { readonly type: "joined"; readonly agentIds: readonly string[] }
  | { readonly type: "bus"; readonly sentence: string }
  | { readonly type: "trouble"; readonly sentence: string }
  /** Every agent knows all others again. */
  | { readonly type: "together"; readonly agents: number; readonly afterMs: number }
  /** The run is over, but the swarm is not yet as it was: a little longer. */
  | { readonly type: "overtime" }
  | SwarmNews
  | Progress;

/** With the time since the start of the run. */
export type Tell = (event: RunEvent, atMs: number) => void;
