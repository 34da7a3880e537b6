import {
  type AllocationReply,
  type Allocator,
  type SyncReply,
  type SyncStore,
  SyncUnavailableError,
} from "@hivepace/core";
import type { SimulatedStore } from "./simulated-store.ts";

/** Runs a callback in a simulated process: at once, after a freeze, or never when the process is gone. */
export type InProcess = (run: () => void) => void;

/**
 * The connection of one simulated process to the simulated store, presented as the store that hives and limiters use.
 */
export function storePort(store: SimulatedStore, index: number, inProcess: InProcess): SyncStore & Allocator {
  const call = <Reply>(
    exchange: (answered: (reply: Reply | PromiseLike<Reply> | undefined) => void) => void,
  ): Promise<Reply> =>
    new Promise((resolve, reject) => {
      exchange((reply) =>
        inProcess(() => {
          if (reply === undefined) reject(new SyncUnavailableError("simulated", "no answer"));
          else resolve(reply);
        }),
      );
    });
  return {
    name: "simulated",
    allocate: (report) => call<AllocationReply>((answered) => store.allocate(index, report, answered)),
    sync: (report) => call<SyncReply>((answered) => store.sync(index, report, answered)),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
