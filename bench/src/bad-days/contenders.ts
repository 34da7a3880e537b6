import Anthropic from "@anthropic-ai/sdk";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { createHive, type Hive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import OpenAI from "openai";
import type { Day } from "./days.ts";

/** One agent's way to call: rejects when the call has failed for its program. */
type Caller = (model: string) => Promise<unknown>;

export interface Contender {
  /** OpenAI's SDK and Anthropic's take turns. */
  readonly callers: readonly Caller[];
  close(): Promise<void>;
}

export const AGENTS = 4;

type Fetch = typeof globalThis.fetch;

/** The SDKs with their defaults. A program with two endpoints uses them in turns. */
function sdkCaller(i: number, urls: readonly string[], fetch?: Fetch): Caller {
  const options = { apiKey: "k", ...(fetch ? { fetch } : {}) };
  const clients = urls.map((url): Caller => {
    if (i % 2 === 0) {
      const client = new OpenAI({ ...options, baseURL: `${url}/v1` });
      return (model) => client.chat.completions.create({ model, messages: [{ role: "user", content: "?" }] });
    }
    const client = new Anthropic({ ...options, baseURL: url });
    return (model) => client.messages.create({ model, max_tokens: 16, messages: [{ role: "user", content: "?" }] });
  });
  let turn = i;
  return (model) => (clients[turn++ % clients.length] as Caller)(model);
}

export function plain(urls: readonly string[]): Contender {
  const callers = Array.from({ length: AGENTS }, (_, i) => sdkCaller(i, urls));
  return { callers, close: async () => undefined };
}

/** The same SDKs, each with the limited fetch of a hive; all hives on one bus. */
export async function hivepace(
  urls: readonly string[],
  { perWindow, windowMs = 1_000, isFastest }: Day,
): Promise<Contender> {
  const broker = memoryBroker();
  const ids = urls.map((_, i) => `endpoint-${i}`);
  const hives: Hive[] = [];
  const callers: Caller[] = [];
  for (let i = 0; i < AGENTS; i++) {
    const hive = await createHive({
      bus: memoryBus(broker),
      namespace: "bad-days",
      agentId: `agent-${i}`,
      windowMs,
      expectedAgents: AGENTS,
      endpoints: ids.map((id) => ({ id, ...(perWindow === undefined ? {} : { rpmLimit: perWindow }) })),
      ...(isFastest ? { strategy: "fastest" as const } : {}),
    });
    hives.push(hive);
    // The base URL of OpenAI's SDK includes `/v1`; Anthropic's SDK adds it to every path.
    const endpoints = urls.map((url, j) => ({
      id: ids[j] as string,
      baseURL: i % 2 === 0 ? `${url}/v1` : url,
      apiKey: "k",
    }));
    const fetch = createLimitedFetch(hive, { endpoint: ids, endpoints }) as Fetch;
    callers.push(sdkCaller(i, urls.slice(0, 1), fetch));
  }
  return {
    callers,
    close: async () => {
      await Promise.all(hives.map((hive) => hive.close()));
    },
  };
}
