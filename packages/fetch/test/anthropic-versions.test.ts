import { type FakeProvider, startProvider } from "@hivepace/provider";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";
import { LocalGate } from "./support/local-gate.ts";

type Sdk = typeof import("@anthropic-ai/sdk");

const versions = [
  { name: "@anthropic-ai/sdk 0.60", load: () => import("anthropic-sdk-0") as unknown as Promise<Sdk> },
  { name: "@anthropic-ai/sdk 1", load: () => import("@anthropic-ai/sdk") },
];

describe.each(versions)("$name", ({ load }) => {
  let provider: FakeProvider;
  let gate: LocalGate;

  beforeEach(async () => {
    provider = await startProvider();
    gate = new LocalGate();
  });
  afterEach(async () => {
    await gate.close();
    await provider.close();
  });

  const client = async () => {
    const { default: Anthropic } = await load();
    const fetch = createLimitedFetch(gate, { baseDelayMs: 5, endpoint: "p" });
    return new Anthropic({ apiKey: "k", baseURL: provider.url, fetch });
  };
  const message = { model: "claude-x", max_tokens: 64, messages: [{ role: "user" as const, content: "hello" }] };

  test("a message and a stream are settled with the reported usage", async () => {
    const anthropic = await client();
    await anthropic.messages.create(message);
    await anthropic.messages.stream(message).finalMessage();
    expect(gate.endings).toMatchObject(provider.log.map(({ tokens }) => ({ how: "done", used: { tokens } })));
  });

  test("a refusal is sent again by the limited fetch alone", async () => {
    provider.failNext("overloaded");
    await (await client()).messages.create(message);
    expect(provider.log).toHaveLength(2);
    expect(gate.endings.map((ending) => ending?.how)).toEqual(["refused", "done"]);
  });
});
