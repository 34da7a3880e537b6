import { systemClock } from "@hivepace/core";
import type { SentinelPlace, ServerAddress } from "../options.ts";
import type { NodeRedisLibrary } from "./library.ts";
import { OwnNodeClient, onceOnly } from "./own-client.ts";

/** Asks the Sentinels one after the other for the current master. Rejects with the last failure. */
export async function findMaster(
  library: NodeRedisLibrary,
  { sentinels, name, username, password }: SentinelPlace,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ServerAddress> {
  // Dividing the time leaves some for the other Sentinels when one does not answer.
  const eachMs = timeoutMs / sentinels.length;
  let failure: unknown = new Error("the connection was closed");
  for (const { host, port } of sentinels) {
    if (signal.aborted) break;
    const link = new OwnNodeClient((own) =>
      library.createClient({
        ...(username !== undefined && { username }),
        ...(password !== undefined && { password }),
        disableOfflineQueue: true,
        socket: { host, port, ...onceOnly(eachMs, own) },
      }),
    );
    link.on("error", (error) => {
      failure = error;
    });
    const end = (): void => link.disconnect();
    const cancel = systemClock.after(eachMs, () => {
      failure = new Error(`the Sentinel ${host}:${port} did not answer within ${eachMs} ms`);
      end();
    });
    signal.addEventListener("abort", end, { once: true });
    try {
      await link.connect();
      const master = (await link.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)) as [string, string] | null;
      if (master) return { host: master[0], port: Number(master[1]) };
      failure = new Error(`the Sentinel ${host}:${port} knows no master named ${name}`);
    } catch (error) {
      if (link.status !== "end") failure = error;
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
      end();
    }
  }
  throw failure;
}
