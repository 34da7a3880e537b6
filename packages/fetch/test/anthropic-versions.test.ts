import { describe, expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";
import { providerForEachTest } from "./support/provider-for-each-test.ts";

type Sdk = typeof import("@anthropic-ai/sdk");

const versions = [
  { name: "@anthropic-ai/sdk 0.60", load: () => import("anthropic-sdk-0") as unknown as Promise<Sdk> },
  { name: "@anthropic-ai/sdk 1", load: () => import("@anthropic-ai/sdk") },
];

describe.each(versions)("$name", ({ load }) => {
  const world = providerForEachTest();

  const client = async () => {
    const { default: Anthropic } = await load();
    const fetch = createLimitedFetch(world.gate, { baseDelayMs: 5, endpoint: "p" });
    return new Anthropic({ apiKey: "k", baseURL: world.provider.url, fetch });
  };
  const message = { model: "claude-x", max_tokens: 64, messages: [{ role: "user" as const, content: "hello" }] };

  test("a message and a stream are settled with the reported usage", async () => {
    const anthropic = await client();
    await anthropic.messages.create(message);
    await anthropic.messages.stream(message).finalMessage();
    expect(world.gate.endings).toMatchObject(
      world.provider.log.map(({ tokens }) => ({ how: "done", used: { tokens } })),
    );
  });

  test("a refusal is sent again by the limited fetch alone", async () => {
    world.provider.failNext("overloaded");
    await (await client()).messages.create(message);
    expect(world.provider.log).toHaveLength(2);
    expect(world.gate.endings.map((ending) => ending?.how)).toEqual(["refused", "done"]);
  });
});
