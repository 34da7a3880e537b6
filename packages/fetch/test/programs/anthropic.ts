/** The Anthropic SDK with a limit, as a middleware: it sees Bedrock, Vertex and Foundry as Anthropic's own. */
import { Anthropic } from "@anthropic-ai/sdk";
import { hivepaceMiddleware } from "@hivepace/fetch/anthropic";
import { startProvider } from "@hivepace/provider";
import { LocalGate } from "../support/local-gate.ts";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });
provider.failNext("overloaded");

const gate = new LocalGate({ rpm: 60 });
const anthropic = new Anthropic({
  apiKey: "sk-test",
  baseURL: provider.url,
  middleware: [hivepaceMiddleware(gate, { endpoint: "anthropic" })],
});

const message = await anthropic.messages
  .stream({ model: "claude-x", max_tokens: 64, messages: [{ role: "user", content: "Hello" }] })
  .finalMessage();
console.log(message.content.map((block) => (block.type === "text" ? block.text.trim() : "")).join(""));
console.log(provider.log.map(({ status }) => status).join(" "));
await gate.close();
await provider.close();

/* Output:
bee bee bee
529 200
*/
