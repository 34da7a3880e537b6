import { ManualClock } from "@hivepace/core/testing";
import { createHive } from "@hivepace/distributed";
import { expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";

const LIMITS: Readonly<Record<string, number>> = { "gpt-4o": 30_000, "gpt-4o-mini": 200_000 };

/** OpenAI's headers, which are about the model of the request. */
const answer = (body: string): Response => {
  const { model } = JSON.parse(body) as { model: string };
  const limit = LIMITS[model] ?? 0;
  return new Response(JSON.stringify({ usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }), {
    headers: {
      "content-type": "application/json",
      "x-ratelimit-limit-tokens": `${limit}`,
      "x-ratelimit-remaining-tokens": `${limit - 15}`,
      "x-ratelimit-limit-requests": "500",
      "x-ratelimit-remaining-requests": "499",
    },
  });
};

test("the limits of one model, learned from its answers, do not hold for a long prompt of another", async () => {
  const clock = new ManualClock();
  await using hive = await createHive({ clock, endpoints: [{ id: "openai" }] });
  const sent: string[] = [];
  const limited = createLimitedFetch(hive, {
    clock,
    fetch: (async (_: unknown, { body }: { body: string }) => {
      sent.push((JSON.parse(body) as { model: string }).model);
      return answer(body);
    }) as unknown as typeof fetch,
  });
  const ask = async (model: string, words: number) => {
    const messages = [{ role: "user", content: "bee ".repeat(words) }];
    const init = { method: "POST", body: JSON.stringify({ model, messages }) };
    const response = await limited("https://api.openai.com/v1/chat/completions", init);
    await response.text();
    return response.status;
  };
  expect(await ask("gpt-4o", 5)).toBe(200);
  expect(hive.explain("openai", "gpt-4o").limits).toMatchObject([{ limit: 500 }, { limit: 30_000 }]);
  // About 100,000 tokens: more than a window of gpt-4o holds.
  expect(await ask("gpt-4o-mini", 100_000)).toBe(200);
  expect(hive.explain("openai", "gpt-4o-mini").limits).toMatchObject([{ limit: 500 }, { limit: 200_000 }]);
  expect(await ask("gpt-4o", 100_000)).toBe(413);
  expect(sent).toEqual(["gpt-4o", "gpt-4o-mini"]);
});
