/** Mastra: an agent whose model has a limited `fetch`. */
import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createHive, createLimitedFetch } from "hivepace";

const hive = await createHive({ endpoints: [{ id: "openai", rpmLimit: 60, tpmLimit: 10_000 }] });
const openai = createOpenAI({
  apiKey: "sk-test",
  baseURL: "https://api.example.com/v1",
  fetch: createLimitedFetch(hive, { endpoint: "openai" }),
});
const agent = new Agent({
  id: "researcher",
  name: "Researcher",
  instructions: "Be brief.",
  model: openai.chat("gpt-x"),
});

const { text, usage } = await agent.generate("What do bees do?");
console.log(text.trim() !== "", usage.outputTokens !== undefined);
const { limits } = hive.explain("openai");
console.log(
  limits.map(({ used }) => used > 0),
  hive.status().leases,
  "leases are open",
);
await hive.close();

/* Output:
true true
[ true, true ] 0 leases are open
*/
