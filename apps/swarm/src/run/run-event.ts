import type { SwarmMode } from "@hivepace/distributed";
import type { SwarmNews } from "./watch.ts";

/** The current state of the swarm, for the screen. */
export interface Progress {
  readonly type: "progress";
  /** The lowest level of all agents, from 0 to 1. */
  readonly level: number;
  /**
   * The fractions of the configured limit that the provider allows, and that its current window has used (of the
   * scarcer limit).
   */
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
  /** Share and usage, as fractions of the limit. */
  readonly share: number;
  readonly used: number;
  readonly waiting: number;
}

/** The events of a run, in order of occurrence. */
export type RunEvent =
  /** `tookMs` is real time. */
  | { readonly type: "started"; readonly agents: number; readonly tookMs: number }
  /** The provider's limit changes to this fraction. */
  | { readonly type: "limit"; readonly part: number; readonly rpm: number; readonly tpm: number }
  | { readonly type: "crashed"; readonly agentId: string; readonly isPlanned: boolean }
  | { readonly type: "joined"; readonly agentIds: readonly string[] }
  | { readonly type: "bus"; readonly sentence: string }
  | { readonly type: "trouble"; readonly sentence: string }
  /** Every agent knows all others again. */
  | { readonly type: "together"; readonly agents: number; readonly afterMs: number }
  /** The time is up and the swarm has not recovered yet; the run continues for a while. */
  | { readonly type: "overtime" }
  | SwarmNews
  | Progress;

/** Reports an event. `atMs`: the time since the start of the run. */
export type EmitRunEvent = (event: RunEvent, atMs: number) => void;
