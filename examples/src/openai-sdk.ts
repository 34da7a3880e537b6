/** The OpenAI SDK with a limited fetch, and no other change. */
import { createHive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { startProvider } from "@hivepace/provider";
import { OpenAI } from "openai";

// A provider that refuses the first request, to show the retry.
const provider = await startProvider({ rpm: 60, outputTokens: 3 });
provider.failNext("rate-limited");
const baseURL = `${provider.url}/v1`;

// For the real API: endpoints: [{ id: "openai", … }] here, and createLimitedFetch(hive) below.
const hive = await createHive({ endpoints: [{ id: "local", rpmLimit: 60 }] });
const openai = new OpenAI({
  apiKey: "sk-test",
  baseURL,
  fetch: createLimitedFetch(hive, { endpoints: [{ id: "local", provider: "openai", baseURL }] }),
});

const answer = await openai.chat.completions.create({ model: "gpt-x", messages: [{ role: "user", content: "Hello" }] });
console.log(answer.choices[0]?.message.content?.trim());

// The first request was refused, announced to all agents, delayed and sent again, without the SDK noticing.
console.log(provider.log.map(({ status }) => status).join(" "));
const { level, cause } = hive.explain("local");
console.log(`${100 * level} % since ${cause?.reason}`);

await hive.close();
await provider.close();

/* Output:
bee bee bee
429 200
50 % since 429 rate_limited
*/
