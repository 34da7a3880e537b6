/** Vercel AI SDK: a middleware limits any model, whichever provider it comes from. */
import { createOpenAI } from "@ai-sdk/openai";
import { hivepaceMiddleware } from "@hivepace/fetch/ai-sdk";
import { startProvider } from "@hivepace/provider";
import { generateText, wrapLanguageModel } from "ai";
import { createHive } from "hivepace";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });
const hive = await createHive({ endpoints: [{ id: "openai", rpmLimit: 60, tpmLimit: 10_000 }] });

const openai = createOpenAI({ apiKey: "sk-test", baseURL: `${provider.url}/v1` });
const model = wrapLanguageModel({
  model: openai.chat("gpt-x"),
  middleware: hivepaceMiddleware(hive, { endpoint: "openai" }),
});

const { text, usage } = await generateText({ model, prompt: "What do bees do?" });
console.log(text.trim(), usage.outputTokens);
console.log(hive.status().leases, "leases are open"); // the reported usage has replaced the estimate

await hive.close();
await provider.close();

/* Output:
bee bee bee 3
0 leases are open
*/
