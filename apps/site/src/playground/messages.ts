import type { SwarmReport } from "@hivepace/distributed/testing";
import type { Settings } from "./settings.ts";

/** The displayed figures and curves of one scheme. */
export type Result = Pick<SwarmReport, "scheme" | "use" | "max" | "sent" | "accepted" | "refused" | "jain" | "wait"> & {
  readonly seconds: readonly number[];
  readonly levelSeconds: readonly number[];
};

/** Message to the worker. */
export interface Run {
  readonly settings: Settings;
}

/** Message from the worker. `done` is the finished fraction of the work. */
export type Update =
  | { readonly type: "progress"; readonly done: number }
  | { readonly type: "results"; readonly results: readonly Result[]; readonly ms: number }
  | { readonly type: "error"; readonly message: string };
