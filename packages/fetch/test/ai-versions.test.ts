import { describe, expect, test } from "vitest";
import { hivepaceMiddleware } from "../src/ai-sdk.ts";
import { createLimitedFetch } from "../src/index.ts";
import { LocalGate } from "./support/local-gate.ts";
import { nodeIsAtLeast } from "./support/node-version.ts";
import { providerForEachTest } from "./support/provider-for-each-test.ts";

type Ai = typeof import("ai");
type OpenAiProvider = typeof import("@ai-sdk/openai");

/** The versions that the peer range admits, with their provider packages; each as far as this Node can load it. */
const versions = [
  {
    name: "ai 5",
    load: () => import("ai-5") as unknown as Promise<Ai>,
    provider: () => import("ai-sdk-openai-2") as unknown as Promise<OpenAiProvider>,
    node: "18.0.0",
  },
  { name: "ai 6", load: () => import("ai"), provider: () => import("@ai-sdk/openai"), node: "18.0.0" },
  {
    name: "ai 7",
    load: () => import("ai-7") as unknown as Promise<Ai>,
    provider: () => import("ai-sdk-openai-4") as unknown as Promise<OpenAiProvider>,
    node: "22.0.0",
  },
].filter(({ node }) => nodeIsAtLeast(node));

type MiddlewareOf<W extends (options: never) => unknown> = Parameters<W>[0] extends { middleware: infer M } ? M : never;

test("the middleware has the type that each version takes", () => {
  const middleware = hivepaceMiddleware(new LocalGate());
  middleware satisfies MiddlewareOf<typeof import("ai-5").wrapLanguageModel>;
  middleware satisfies MiddlewareOf<typeof import("ai").wrapLanguageModel>;
  middleware satisfies MiddlewareOf<typeof import("ai-7").wrapLanguageModel>;
});

describe.each(versions)("$name", ({ load, provider: loadProvider }) => {
  const each = providerForEachTest();

  const world = async () => {
    const [ai, { createOpenAI }] = await Promise.all([load(), loadProvider()]);
    const options = { baseDelayMs: 5, endpoint: "p" };
    const place = { apiKey: "k", baseURL: `${each.provider.url}/v1` };
    const wrapped = ai.wrapLanguageModel({
      model: createOpenAI(place).chat("gpt-x"),
      middleware: hivepaceMiddleware(each.gate, options),
    });
    const fetched = createOpenAI({ ...place, fetch: createLimitedFetch(each.gate, options) }).chat("gpt-x");
    return { ...ai, models: [wrapped, fetched] };
  };
  const call = { prompt: "hello", maxOutputTokens: 64, maxRetries: 0 };

  test("generateText is settled with the reported usage, through the middleware and through fetch", async () => {
    const { generateText, models } = await world();
    for (const model of models) expect((await generateText({ model, ...call })).text).toContain("bee ".repeat(15));
    expect(each.gate.endings).toMatchObject(each.provider.log.map(({ tokens }) => ({ how: "done", used: { tokens } })));
  });

  test("streamText is settled with the reported usage, through the middleware and through fetch", async () => {
    const { streamText, models } = await world();
    for (const model of models) {
      let text = "";
      for await (const part of streamText({ model, ...call }).textStream) text += part;
      expect(text.trim()).toBe("bee ".repeat(16).trim());
    }
    expect(each.gate.endings).toMatchObject(each.provider.log.map(({ tokens }) => ({ how: "done", used: { tokens } })));
  });

  test("a refusal is waited for and sent again", async () => {
    const { generateText, models } = await world();
    for (const model of models) {
      each.provider.failNext("rate-limited");
      expect((await generateText({ model, ...call })).text).toContain("bee");
    }
    expect(each.gate.endings.map((ending) => ending?.how)).toEqual(["refused", "done", "refused", "done"]);
  });
});
