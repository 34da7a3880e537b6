/** A process that makes the given number of concurrent calls with the named SDK, through the gate of its parent. */
import { Anthropic } from "@anthropic-ai/sdk";
import { OpenAI } from "openai";
import { createLimitedFetch } from "../src/index.ts";
import { gateOfParent } from "./support/gate-of-parent.ts";

const [sdk, apiKey = "", url = "", calls] = process.argv.slice(2);
const fetch = createLimitedFetch(gateOfParent(), { endpoint: "provider" });
const messages = [{ role: "user" as const, content: "What do bees do all day?" }];
const openai = new OpenAI({ apiKey, baseURL: `${url}/v1`, fetch });
const anthropic = new Anthropic({ apiKey, baseURL: url, fetch });
const ask = (): Promise<unknown> =>
  sdk === "openai"
    ? openai.chat.completions.create({ model: "gpt-x", messages })
    : anthropic.messages.create({ model: "claude-x", max_tokens: 64, messages });

// A call that fails ends the process with its error.
await Promise.all(Array.from({ length: Number(calls) }, ask));
process.disconnect();
