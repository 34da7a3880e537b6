/** OpenAI Agents SDK: the model provider gets an OpenAI client with the limited fetch. */
import { startProvider } from "@hivepace/provider";
import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import { createHive, createLimitedFetch } from "hivepace";
import OpenAI from "openai";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });
const baseURL = `${provider.url}/v1`;
const hive = await createHive({ endpoints: [{ id: "local", rpmLimit: 60 }] });
const fetch = createLimitedFetch(hive, { endpoints: [{ id: "local", provider: "openai", baseURL }] });

const openAIClient = new OpenAI({ apiKey: "sk-test", baseURL, fetch });
const runner = new Runner({
  modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }),
  tracingDisabled: true,
});
const agents = ["planner", "critic"].map((name) => new Agent({ name, instructions: "Be brief.", model: "gpt-x" }));
const results = await Promise.all(agents.map((agent) => runner.run(agent, "What do bees do?")));
console.log(results.map(({ finalOutput }) => String(finalOutput).trim()));

await hive.close();
await provider.close();

/* Output:
[ 'bee bee bee', 'bee bee bee' ]
*/
