import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { LocalGate } from "../../test/support/local-gate.ts";
import { createLimitedFetch } from "../limited-fetch/create-limited-fetch.ts";

const limits = {
  "anthropic-ratelimit-requests-limit": "50",
  "anthropic-ratelimit-requests-remaining": "49",
  "content-type": "application/json",
};

/** The observations that a gate gets of calls to these addresses. */
async function observed(calls: readonly (readonly [url: string, body?: object])[]) {
  const gate = new LocalGate({ clock: new ManualClock() });
  const fetch = (async () => new Response("{}", { headers: limits })) as unknown as typeof globalThis.fetch;
  const limited = createLimitedFetch(gate, { fetch });
  for (const [url, body] of calls)
    await limited(url, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  return gate.observed.map(({ endpoint, model }) => [endpoint, model]);
}

test("limits in an answer are reported for the model of the call", async () => {
  const url = "https://api.anthropic.com/v1/messages";
  expect(
    await observed([
      [url, { model: "a" }],
      [url, { model: "b" }],
    ]),
  ).toEqual([
    ["anthropic", "a"],
    ["anthropic", "b"],
  ]);
});

test("limits of token counting, which is counted apart, are reported for no model", async () => {
  expect(await observed([["https://api.anthropic.com/v1/messages/count_tokens", { model: "a" }]])).toEqual([]);
});

test("an answer about no model teaches nothing about a provider that limits models", async () => {
  expect(await observed([["https://api.anthropic.com/v1/models"]])).toEqual([]);
});

test("limits of an API without models are those of its endpoint", async () => {
  expect(await observed([["https://api.example.com/things"]])).toEqual([["api.example.com", undefined]]);
});
