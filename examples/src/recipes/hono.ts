/** Hono: the hive as a variable of the context, and one error handler for calls that cannot be sent in time. */

import { CapacityExhaustedError, createHive, type Hive } from "hivepace";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";

const hive = await createHive({ endpoints: [{ id: "search", rpmLimit: 2 }] });

const app = new Hono<{ Variables: { hive: Hive } }>();
app.use(async (context, next) => {
  context.set("hive", hive);
  await next();
});
app.get("/search", async (context) => {
  const lease = await context.var.hive.acquire({
    endpoint: "search",
    timeoutMs: 0, // never waits; 10_000 waits for ten seconds
    signal: context.req.raw.signal,
  });
  try {
    return context.json({ found: `results for ${context.req.query("q")}` }); // the call of the API
  } finally {
    lease.done();
  }
});
app.onError((error) => {
  if (error instanceof HTTPException) return error.getResponse();
  if (!(error instanceof CapacityExhaustedError)) throw error;
  const seconds = Math.ceil((error.retryAfterMs ?? 1_000) / 1_000);
  return new Response("too many requests", { status: 503, headers: { "retry-after": String(seconds) } });
});

for (const q of ["bees", "hives", "honey"]) {
  const response = await app.request(`/search?q=${q}`);
  console.log(response.status, response.headers.has("retry-after"), await response.text());
}
await hive.close();

/* Output:
200 false {"found":"results for bees"}
200 false {"found":"results for hives"}
503 true too many requests
*/
