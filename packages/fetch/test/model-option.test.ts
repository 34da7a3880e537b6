import type { Lease } from "@hivepace/core";
import { expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";

test("the option model names the model whose usage is learned and estimated", async () => {
  const asked: (number | undefined)[] = [];
  const nothing = () => undefined;
  const lease = { endpoint: "p", model: "own", done: nothing, answered: nothing, renew: nothing } as unknown as Lease;
  const limited = createLimitedFetch(
    {
      acquire: ({ outputTokens }) => {
        asked.push(outputTokens);
        return Promise.resolve(lease);
      },
    },
    {
      model: () => "own",
      fetch: (async () =>
        Response.json({ usage: { prompt_tokens: 10, completion_tokens: 70 } })) as unknown as typeof globalThis.fetch,
    },
  );
  const body = JSON.stringify({ model: "alias", max_tokens: 4_000, messages: [{ role: "user", content: "x" }] });
  const call = async () => (await limited("https://m.example/v1/chat/completions", { method: "POST", body })).text();
  for (let i = 0; i < 4; i++) await call();
  expect(asked).toEqual([4_000, 4_000, 4_000, 70]);
});
