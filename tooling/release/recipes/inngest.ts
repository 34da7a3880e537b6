/** Inngest: a step of a function acquires from the hive. A wait that is too long becomes a retry by Inngest. */
import { CapacityExhaustedError, createHive } from "hivepace";
import { Inngest, RetryAfterError } from "inngest";
import { serve } from "inngest/edge";

const hive = await createHive({ endpoints: [{ id: "crm", rpmLimit: 1 }] });
const inngest = new Inngest({ id: "letters", isDev: true, logger: { ...console, error: () => {} } });

const summarize = inngest.createFunction({ id: "summarize" }, { event: "letter/arrived" }, ({ event, step }) =>
  step.run("summarize", async () => {
    try {
      using _lease = await hive.acquire({ endpoint: "crm", timeoutMs: 50 }); // 5_000 in production
      return `summary of ${event.data.text}`; // the call of the API
    } catch (error) {
      if (!(error instanceof CapacityExhaustedError)) throw error;
      throw new RetryAfterError(error.message, error.retryAfterMs ?? 60_000);
    }
  }),
);

// Inngest calls a function over HTTP, step by step. These requests stand in for it, so that no server is needed.
const handle = serve({ client: inngest, functions: [summarize] });
async function deliver(text: string): Promise<void> {
  const event = { name: "letter/arrived", data: { text } };
  const ctx = {
    run_id: "1",
    attempt: 0,
    disable_immediate_execution: false,
    use_api: false,
    stack: { stack: [], current: 0 },
  };
  const request = new Request("http://localhost/api/inngest?fnId=letters-summarize&stepId=step", {
    method: "POST",
    headers: { host: "localhost" },
    body: JSON.stringify({ version: 1, event, events: [event], steps: {}, ctx }),
  });
  const response = await handle(request);
  const [step] = (await response.json()) as { op: string; data: unknown }[];
  console.log(step?.op, response.headers.has("retry-after") ? "to be retried" : step?.data);
}
await deliver("a letter");
await deliver("another one");
await hive.close();

/* Output:
StepRun summary of a letter
StepError to be retried
*/
