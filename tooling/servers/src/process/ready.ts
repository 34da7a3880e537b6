import { StartFailedError } from "../errors.ts";
import type { ServerKind } from "../kinds.ts";
import { until } from "../until.ts";
import type { GuardedProcess } from "./guarded-process.ts";
import { type Address, answers, type Probe } from "./probe.ts";

/** Resolves when the server answers; rejects with the end of its log when it exits first or exceeds the deadline. */
export async function untilReady(
  kind: ServerKind,
  server: GuardedProcess,
  address: Address,
  probe: Probe,
  deadlineMs: number,
): Promise<void> {
  const outcome = await until(
    async () => {
      const ready = await answers(address, probe);
      // Checked after the answer: an answer from another process on that port must not count for a server that has
      // exited.
      if (server.pid === undefined) return "dead";
      return ready && "ready";
    },
    { deadlineMs },
  );
  if (outcome === "ready") return;
  const what = outcome === "dead" ? "ended before it was ready" : `gave no answer within ${deadlineMs} ms`;
  throw new StartFailedError(kind, what, await server.log());
}
