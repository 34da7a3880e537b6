/** Express: one hive per process. A client that disconnects leaves the queue; a wait that is too long becomes a 503. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { startProvider } from "@hivepace/provider";
import express from "express";
import { createHive, createLimitedFetch } from "hivepace";
import OpenAI from "openai";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });
const baseURL = `${provider.url}/v1`;
const hive = await createHive({ endpoints: [{ id: "local", rpmLimit: 60 }] });
const fetch = createLimitedFetch(hive, {
  endpoints: [{ id: "local", provider: "openai", baseURL }],
  timeoutMs: 20_000,
});
const openai = new OpenAI({ apiKey: "sk-test", baseURL, fetch });

const app = express();
app.use(express.json());
app.post("/ask", async (request, response) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const messages = [{ role: "user" as const, content: String(request.body.question) }];
    const completion = await openai.chat.completions.create({ model: "gpt-x", messages }, { signal: gone.signal });
    response.json({ answer: completion.choices[0]?.message.content?.trim() });
  } catch (error) {
    if (!(error instanceof OpenAI.RateLimitError)) throw error;
    response
      .set("retry-after", error.headers?.get("retry-after") ?? "1")
      .status(503)
      .end();
  }
});

const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ask`;
const headers = { "content-type": "application/json" };
const answer = await globalThis.fetch(url, { method: "POST", headers, body: JSON.stringify({ question: "Hello?" }) });
console.log(answer.status, await answer.json());

// On SIGTERM: no new connections, then the hive leaves the swarm, so that its capacity is free at once.
server.close();
await hive.close({ drainMs: 10_000 });
await provider.close();

/* Output:
200 { answer: 'bee bee bee' }
*/
