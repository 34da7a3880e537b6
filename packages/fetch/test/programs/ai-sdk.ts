/** The AI SDK with a limit, as a middleware of the model: for every provider, also one that takes no fetch. */
import { createOpenAI } from "@ai-sdk/openai";
import { hivepaceMiddleware } from "@hivepace/fetch/ai-sdk";
import { startProvider } from "@hivepace/provider";
import { generateText, streamText, wrapLanguageModel } from "ai";
import { LocalGate } from "../support/local-gate.ts";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });
provider.failNext("rate-limited");

const gate = new LocalGate({ rpm: 60 });
const model = wrapLanguageModel({
  model: createOpenAI({ apiKey: "sk-test", baseURL: `${provider.url}/v1` }).chat("gpt-x"),
  middleware: hivepaceMiddleware(gate),
});

const { text } = await generateText({ model, prompt: "Hello" });
console.log(text.trim());
let words = "";
for await (const part of streamText({ model, prompt: "Hello" }).textStream) words += part;
console.log(words.trim());
console.log(provider.log.map(({ status }) => status).join(" "));
await gate.close();
await provider.close();

/* Output:
bee bee bee
bee bee bee
429 200 200
*/
