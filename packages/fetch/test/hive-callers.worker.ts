/** A process with its own hive on a real bus, which makes the given number of concurrent calls with the named SDK. */
import { Anthropic } from "@anthropic-ai/sdk";
import { natsBus } from "@hivepace/bus-nats";
import { createHive } from "@hivepace/distributed";
import { connect } from "@nats-io/transport-node";
import { OpenAI } from "openai";
import { createLimitedFetch } from "../src/index.ts";

const [sdk, agentId = "", url = "", calls, servers = "", namespace = "", limit, windowMs] = process.argv.slice(2);
const connection = await connect({ servers });
const hive = await createHive({
  bus: natsBus(connection),
  namespace,
  agentId,
  windowMs: Number(windowMs),
  expectedAgents: 4,
  endpoints: [{ id: "provider", rpmLimit: Number(limit) }],
});
const fetch = createLimitedFetch(hive, { endpoint: "provider" });
const messages = [{ role: "user" as const, content: "What do bees do all day?" }];
const openai = new OpenAI({ apiKey: agentId, baseURL: `${url}/v1`, fetch });
const anthropic = new Anthropic({ apiKey: agentId, baseURL: url, fetch });
const ask = (): Promise<unknown> =>
  sdk === "openai"
    ? openai.chat.completions.create({ model: "gpt-x", messages })
    : anthropic.messages.create({ model: "claude-x", max_tokens: 64, messages });

// All know each other before the first call.
process.send?.("ready");
await new Promise((resolve) => process.once("message", resolve));
// A call that fails ends the process with its error.
await Promise.all(Array.from({ length: Number(calls) }, ask));
await hive.close();
await connection.close();
process.disconnect();
