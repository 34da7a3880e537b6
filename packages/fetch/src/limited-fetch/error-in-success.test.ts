import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { LocalGate } from "../../test/support/local-gate.ts";
import { createLimitedFetch } from "./create-limited-fetch.ts";

const URL = "https://api.openai.com/v1/chat/completions";
const request = { method: "POST", body: JSON.stringify({ model: "m", messages: [] }) };

/** A limited fetch in virtual time whose provider gives these documents with status 200. */
function world(documents: readonly unknown[], headers: (text: string) => Record<string, string>) {
  const clock = new ManualClock();
  const gate = new LocalGate({ clock });
  const left = documents.map((document) => JSON.stringify(document));
  const fetch = (async () => {
    const text = left.shift() ?? "";
    return new Response(text, { headers: { "content-type": "application/json", ...headers(text) } });
  }) as unknown as typeof globalThis.fetch;
  return { clock, gate, limited: createLimitedFetch(gate, { clock, fetch, random: () => 0 }) };
}

const withLength = (text: string) => ({ "content-length": String(text.length) });
const refusal = { error: { code: 429, message: "Rate limit exceeded. Please try again in 3 seconds." } };
const answer = { choices: [], error: null, usage: { prompt_tokens: 5, completion_tokens: 2 } };

test("an error in a short answer with status 200 is waited for and sent again, as with its own status", async () => {
  const { clock, gate, limited } = world([refusal, answer], withLength);
  const response = limited(URL, request);
  await clock.run(3_000);
  expect(await (await response).json()).toEqual(answer);
  expect(gate.endings).toMatchObject([
    { how: "refused", refusal: { reason: "200 rate_limited", retryAfterMs: 3_000, kind: "limit" } },
    { how: "done", used: { tokens: 7 } },
  ]);
});

test("an error in an answer of unknown length is announced when it is read, and passed on", async () => {
  const { gate, limited } = world([refusal], () => ({}));
  expect(await (await limited(URL, request)).json()).toEqual(refusal);
  expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "limit" } }]);
});

test("MiniMax's spent balance costs nothing and cuts nobody", async () => {
  const { gate, limited } = world(
    [{ base_resp: { status_code: 1008, status_msg: "insufficient balance" } }],
    withLength,
  );
  await (await limited(URL, request)).text();
  expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "quota" } }]);
});

test("an answer whose text speaks of errors is an answer", async () => {
  const text = JSON.stringify({ error: { type: "rate_limit_error", message: "Rate limit exceeded" } });
  const { gate, limited } = world([{ ...answer, choices: [{ message: { content: text } }] }], withLength);
  await (await limited(URL, request)).text();
  expect(gate.endings).toMatchObject([{ how: "done", used: { tokens: 7 } }]);
});
