import { type ShareReply, type ShareStore, type SyncReply, type SyncStore, SyncUnavailableError } from "@hivepace/core";
import type { SimulatedStore } from "./simulated-store.ts";

/** Runs something in a simulated process: at once, when the process goes on, or never when it is gone. */
export type InProcess = (run: () => void) => void;

/** The connection of one simulated process to the simulated store, as the store that real classes take. */
export function storePort(store: SimulatedStore, index: number, inProcess: InProcess): SyncStore & ShareStore {
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
    share: (report) => call<ShareReply>((answered) => store.share(index, report, answered)),
    sync: (report) => call<SyncReply>((answered) => store.sync(index, report, answered)),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
