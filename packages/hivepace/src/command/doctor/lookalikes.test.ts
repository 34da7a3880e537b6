import { expect, test } from "vitest";
import { lookalikesOf } from "./lookalikes.ts";

const of = (...pairs: readonly (readonly [resource: string, ...agents: string[]])[]) =>
  lookalikesOf(new Map(pairs.map(([resource, ...agents]) => [resource, new Set(agents)]))).map(({ names, isSame }) => [
    ...names.map(({ resource }) => resource),
    isSame,
  ]);

test.each([
  ["openai", "open-ai", true],
  ["openai", "OpenAI", true],
  ["open_ai/gpt-4", "openai/gpt4", true],
  ["openai", "opnai", false],
  ["openai", "opneai", false],
  ["anthropic", "antropic", false],
])("%s and %s look alike when no agent has both", (one, other, isSame) => {
  expect(of([one, "a", "b"], [other, "c"])).toEqual([[one, other, isSame]]);
  expect(of([one, "a", "b"], [other, "b"])).toEqual([]);
});

test.each([
  ["gpt-4", "gpt-5"],
  ["azure-openai-1", "azure-openai-2"],
  ["eu", "us"],
  ["openai", "mistral"],
  ["bedrock-eu", "bedrock-us"],
  ["openai", "openai@1000"],
  ["@key/acme-1", "@key/acme_1"],
])("%s and %s do not look alike", (one, other) => {
  expect(of([one, "a"], [other, "b"])).toEqual([]);
});
