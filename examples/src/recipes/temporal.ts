/** Temporal: activities acquire from the hive of their worker. A wait that is too long becomes a retry by Temporal. */
import { ApplicationFailure, asyncLocalStorage, Context, cancellationSignal, heartbeat } from "@temporalio/activity";
import { CapacityExhaustedError, createHive, type Hive } from "hivepace";

function createActivities(hive: Hive) {
  return {
    async summarize(text: string): Promise<string> {
      const alive = setInterval(() => heartbeat(), 5_000);
      try {
        using _lease = await hive.acquire({ endpoint: "crm", timeoutMs: 50, signal: cancellationSignal() });
        return `summary of ${text}`; // the call of the API
      } catch (error) {
        if (!(error instanceof CapacityExhaustedError)) throw error;
        const nextRetryDelay = error.retryAfterMs ?? 60_000;
        throw ApplicationFailure.create({ message: error.message, type: "RateLimited", nextRetryDelay });
      } finally {
        clearInterval(alive);
      }
    },
  };
}

const hive = await createHive({ endpoints: [{ id: "crm", rpmLimit: 1 }] });
const activities = createActivities(hive); // for Worker.create({ activities, … })

// A worker runs every activity within a context. This one stands in for it, so that the program needs no Temporal server.
const never = new Promise<never>(() => {});
const nothing = {} as never;
const context = new Context(
  nothing,
  never,
  new AbortController().signal,
  () => {},
  undefined,
  nothing,
  nothing,
  nothing,
);
const run = (text: string) => asyncLocalStorage.run(context, () => activities.summarize(text));

console.log(await run("a letter"));
const failure: unknown = await run("another one").catch((error: unknown) => error);
if (!(failure instanceof ApplicationFailure)) throw failure;
console.log(failure.type, "retry in", Math.round(Number(failure.nextRetryDelay) / 60_000), "minute");
await hive.close();

/* Output:
summary of a letter
RateLimited retry in 1 minute
*/
