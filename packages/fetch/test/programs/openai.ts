/** The OpenAI SDK with a limit: pass it a fetch, and nothing else changes. */
import { createLimitedFetch } from "@hivepace/fetch";
import { startProvider } from "@hivepace/provider";
import { OpenAI } from "openai";
import { LocalGate } from "../support/local-gate.ts";

// A provider that refuses the first request.
const provider = await startProvider({ rpm: 60, outputTokens: 3 });
provider.failNext("rate-limited");

const gate = new LocalGate({ rpm: 60 });
const openai = new OpenAI({
  apiKey: "sk-test",
  baseURL: `${provider.url}/v1`,
  fetch: createLimitedFetch(gate, { endpoint: "openai" }),
});

const answer = await openai.chat.completions.create({ model: "gpt-x", messages: [{ role: "user", content: "Hello" }] });
console.log(answer.choices[0]?.message.content?.trim());

const stream = await openai.chat.completions.create({
  model: "gpt-x",
  messages: [{ role: "user", content: "Hello" }],
  stream: true,
});
let words = "";
for await (const chunk of stream) words += chunk.choices[0]?.delta.content ?? "";
console.log(words.trim());

// The first request was refused and resent after the wait; the SDK saw only the final answer.
console.log(provider.log.map(({ status }) => status).join(" "));
await gate.close();
await provider.close();

/* Output:
bee bee bee
bee bee bee
429 200 200
*/
