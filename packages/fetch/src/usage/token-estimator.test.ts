import { seededRandom } from "@hivepace/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readCall } from "../call/call-facts.ts";
import { TokenEstimator } from "./token-estimator.ts";

const OPENAI = "/v1/chat/completions";
const facts = (body: object, path = OPENAI) => readCall(path, JSON.stringify(body));
const prompt = (bytes: number, more: object = {}) =>
  facts({ model: "m", messages: [{ content: "bee ".repeat(bytes / 4) }], ...more });

test("bytes for each token are learned for each model, from what was reported", () => {
  const estimator = new TokenEstimator();
  const random = seededRandom(1);
  for (let i = 0; i < 40; i++) {
    const call = prompt(500 + random() * 5_000);
    estimator.learn("anthropic", call, { promptTokens: call.inputBytes / 2.5, outputTokens: 100 });
  }
  const call = prompt(10_000);
  const { inputTokens, outputTokens } = estimator.estimate("anthropic", call);
  expect(Math.abs(inputTokens / (call.inputBytes / 2.5) - 1)).toBeLessThan(0.01);
  expect(outputTokens).toBe(100);
  const other = { ...call, model: "other" };
  expect(estimator.estimate("anthropic", other).inputTokens).toBe(Math.ceil(call.inputBytes / 3.5));
  expect(estimator.estimate("openai", call).inputTokens).toBe(Math.ceil(call.inputBytes / 3.5));
});

test("the maximum length of the answer counts by the provider's rule", () => {
  const estimator = new TokenEstimator();
  const call = prompt(3_500, { max_tokens: 8_000 });
  estimator.learn("anthropic", call, { outputTokens: 300 });
  estimator.learn("openai", call, { outputTokens: 300 });
  const input = Math.ceil(call.inputBytes / 3.5);
  const tokens = (provider: string) => estimator.estimate(provider, call).tokens;
  expect(tokens("anthropic")).toBe(input + 300); // only output is limited
  expect(tokens("openai")).toBe(8_000); // the larger of the allowance and what is expected
  expect(tokens("azure")).toBe(input + 8_000); // reserved
  expect(tokens("groq")).toBe(input + 8_000);
  expect(tokens("bedrock")).toBe(input + 8_000);
  expect(tokens("gemini")).toBe(input); // only input is limited
  expect(tokens("nobody")).toBe(input + 8_000); // not known: careful
  expect(estimator.estimate("openai", prompt(35_000, { max_tokens: 10 })).tokens).toBeGreaterThan(10_000);
});

test("the cached part of prompts is not reserved where the provider does not count it", () => {
  const estimator = new TokenEstimator();
  const call = prompt(35_000);
  const promptTokens = call.inputBytes / 3.5;
  for (let i = 0; i < 40; i++)
    for (const provider of ["anthropic", "openai"])
      estimator.learn(provider, call, { promptTokens, cachedTokens: 0.98 * promptTokens });
  expect(estimator.estimate("anthropic", call).inputTokens / promptTokens).toBeCloseTo(0.02, 3);
  expect(estimator.estimate("openai", call).inputTokens / promptTokens).toBeCloseTo(1, 2);
});

test("a session's cache is its own, and no more of a prompt is cached than the session has sent before", () => {
  const estimator = new TokenEstimator();
  const call = prompt(35_000);
  const promptTokens = call.inputBytes / 3.5;
  for (const part of [0, 0.98, 0.98]) {
    expect(estimator.estimate("anthropic", call, "a").inputTokens / promptTokens).toBeCloseTo(1, 2);
    estimator.learn("anthropic", call, { promptTokens, cachedTokens: part * promptTokens }, "a");
  }
  expect(estimator.estimate("anthropic", call, "a").inputTokens / promptTokens).toBeCloseTo(0.02, 2);
  expect(estimator.estimate("anthropic", call, "b").inputTokens / promptTokens).toBeCloseTo(1, 2);
  const longer = prompt(70_000);
  const added = longer.inputBytes / 3.5 - promptTokens;
  expect(estimator.estimate("anthropic", longer, "a").inputTokens).toBeGreaterThanOrEqual(Math.floor(added));
});

test("input that the server adds and bytes of a token do not spoil each other", () => {
  const estimator = new TokenEstimator();
  const file = prompt(350, { input: [{ type: "input_file", file_id: "file-1" }] });
  expect(file.references).toBe(1);
  for (let i = 0; i < 20; i++) {
    estimator.learn("gemini", prompt(3_500), { promptTokens: prompt(3_500).inputBytes / 2 });
    estimator.learn("gemini", file, { promptTokens: file.inputBytes / 2 + 40_000 });
  }
  const text = prompt(7_000);
  expect(estimator.estimate("gemini", text).inputTokens / (text.inputBytes / 2)).toBeCloseTo(1, 1);
  expect(estimator.estimate("gemini", file).inputTokens / 40_000).toBeCloseTo(1, 1);
});

test.each([
  ["an image behind an address", { content: [{ type: "image_url", image_url: { url: "https://x.example/a.png" } }] }],
  ["a document behind an address", { content: [{ source: { type: "url", url: "https://x.example/a.pdf" } }] }],
  ["an uploaded file", { fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/x" } }],
  ["an earlier answer", { previous_response_id: "resp_1" }],
])("%s is input that the server adds", (_name, body) => {
  expect(facts({ model: "m", ...body }).references).toBe(1);
});

test("a session that continues an earlier answer sends it again", () => {
  const estimator = new TokenEstimator();
  const first = prompt(350);
  const next = prompt(350, { previous_response_id: "resp_1" });
  estimator.learn("openai", first, { promptTokens: 20_000, outputTokens: 1_000 }, "s");
  expect(estimator.estimate("openai", next, "s").inputTokens).toBeGreaterThan(21_000);
});

test("the allowance of an unknown host counts until three answers have shown how long they are", () => {
  const estimator = new TokenEstimator();
  const call = prompt(3_500, { max_tokens: 8_192 });
  const reserved = () => estimator.estimate("nobody", call).outputTokens;
  for (let i = 0; i < 3; i++) {
    expect(reserved()).toBe(8_192);
    estimator.learn("nobody", call, { outputTokens: 300 });
  }
  expect(reserved()).toBe(300);
});

test("an answer is never expected to be longer than it may be", () => {
  const estimator = new TokenEstimator();
  expect(estimator.estimate("anthropic", prompt(0, { max_tokens: 20 })).outputTokens).toBe(20);
  expect(estimator.estimate("anthropic", prompt(0)).outputTokens).toBe(512);
});

test("several answers are allowed several times as much", () => {
  expect(prompt(0, { max_tokens: 100, n: 3 }).maxOutputTokens).toBe(300);
  expect(prompt(0, { max_tokens: 100, n: 2, best_of: 5 }).maxOutputTokens).toBe(500);
  expect(prompt(0, { max_tokens: 100, n: 1e9 }).maxOutputTokens).toBe(12_800);
  const gemini = facts(
    { generationConfig: { maxOutputTokens: 50, candidateCount: 2 } },
    "/v1beta/models/g:generateContent",
  );
  expect(gemini).toMatchObject({ protocol: "gemini", model: "g", maxOutputTokens: 100 });
  expect(facts({ inferenceConfig: { maxTokens: 7 } }, "/model/anthropic.claude/converse")).toMatchObject({
    model: "anthropic.claude",
    maxOutputTokens: 7,
  });
  expect(facts({ max_output_tokens: 9 }, "/v1/responses").maxOutputTokens).toBe(9);
});

test("a call that is answered without output is expected to have none", () => {
  const estimator = new TokenEstimator();
  for (const path of ["/v1/embeddings", "/v1/messages/count_tokens", "/v1beta/models/g:embedContent"])
    for (const provider of ["openai", "anthropic", "azure"])
      expect(estimator.estimate(provider, facts({ model: "m", input: "bees" }, path)).outputTokens).toBe(0);
});

test("a file in the prompt counts as a file, not by its bytes", () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(100_000)}` } };
  const blob = { type: "image", source: { data: "QUJD".repeat(10_000) } };
  const call = facts({ model: "m", messages: [{ content: [image, blob] }] });
  expect(call.attachments).toBe(2);
  expect(call.inputBytes).toBeLessThan(200);
  const estimator = new TokenEstimator();
  expect(estimator.estimate("gemini", call).tokens).toBeGreaterThan(3_200);
  estimator.learn("gemini", call, { promptTokens: 5 });
  expect(estimator.estimate("gemini", prompt(350)).inputTokens).toBe(Math.ceil(prompt(350).inputBytes / 3.5));
});

test("bytes are those of UTF-8", () => {
  const bytes = (content: string) => facts({ content }).inputBytes - "content".length;
  expect(bytes("abc")).toBe(3);
  expect(bytes("äöü")).toBe(6);
  expect(bytes("漢字")).toBe(6);
  expect(bytes("🐝")).toBe(4);
  expect(bytes("漢字".repeat(1_000))).toBe(6_000);
});

test("a request that calls no model is expected to use no tokens", () => {
  expect(new TokenEstimator().estimate("x", readCall("/v1/files", "binary"))).toEqual({
    tokens: 0,
    inputTokens: 0,
    outputTokens: 0,
  });
});

test("nonsense in a report never makes an estimate that is not a number of 0 or more", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ promptTokens: fc.nat(), outputTokens: fc.nat() })),
      fc.nat(10_000),
      (reports, bytes) => {
        const estimator = new TokenEstimator();
        const call = prompt(bytes);
        for (const report of reports) estimator.learn("openai", call, report);
        const { tokens, inputTokens } = estimator.estimate("openai", call);
        expect(Number.isFinite(tokens) && tokens >= inputTokens && inputTokens >= call.inputBytes / 16).toBe(true);
      },
    ),
  );
});

test("of any number of models the newest are kept", () => {
  const estimator = new TokenEstimator();
  for (let i = 0; i < 3_000; i++) {
    estimator.learn("p", { ...prompt(1_000), model: `m${i}` }, { outputTokens: i });
    estimator.learn("p", { ...prompt(1_000), model: "in use" }, i === 0 ? { outputTokens: 7 } : {});
  }
  const expected = (model: string) => estimator.estimate("p", { ...prompt(0), model }).outputTokens;
  expect([expected("m0"), expected("m2000"), expected("m2001"), expected("m2999")]).toEqual([512, 512, 2_001, 2_999]);
  expect(expected("in use")).toBe(7);
});

test("any body is read without a throw", () => {
  fc.assert(
    fc.property(fc.string(), fc.oneof(fc.string(), fc.json()), (path, body) => {
      const { inputBytes, attachments, maxOutputTokens = 0 } = readCall(path, body);
      expect([inputBytes, attachments, maxOutputTokens].every((n) => Number.isFinite(n) && n >= 0)).toBe(true);
    }),
  );
});

test("the length of answers is known when the first calls are answered or have failed, because the shortest come first", () => {
  const estimator = new TokenEstimator();
  const call = { ...prompt(3_500), maxOutputTokens: 8_000 };
  const output = () => estimator.estimate("p", call).outputTokens;
  const answer = (isFirst: boolean) => estimator.learn("p", call, { promptTokens: 1_000, outputTokens: 100, isFirst });
  const first = [1, 2, 3, 4, 5].map(() => estimator.sent("p", call));
  expect(first).toEqual([true, true, true, true, true]);
  for (let i = 0; i < 4; i++) answer(true);
  expect([estimator.sent("p", call), output()]).toEqual([false, 8_000]);
  estimator.failed("p", call);
  expect(output()).toBe(100);
});

test("a first call that hangs does not keep the length of answers unknown", () => {
  const estimator = new TokenEstimator();
  const call = { ...prompt(3_500), maxOutputTokens: 8_000 };
  for (let i = 0; i < 2; i++) estimator.sent("p", call);
  for (let i = 0; i < 8; i++) {
    expect(estimator.estimate("p", call).outputTokens).toBe(8_000);
    estimator.learn("p", call, { promptTokens: 1_000, outputTokens: 100, isFirst: i === 0 });
  }
  expect(estimator.estimate("p", call).outputTokens).toBe(100);
});

test("listeners hear of better estimates of their model a few times, until they end", () => {
  const estimator = new TokenEstimator();
  let heard = 0;
  const end = estimator.onLearned("p", prompt(100), () => void heard++);
  const learn = (model: string) =>
    estimator.learn("p", { ...prompt(100), model }, { promptTokens: 30, outputTokens: 5 });
  for (let i = 0; i < 24; i++) learn("another");
  expect(heard).toBe(0);
  for (let i = 0; i < 24; i++) learn(prompt(100).model ?? "");
  expect(heard).toBe(4);
  end();
  for (let i = 0; i < 24; i++) learn(prompt(100).model ?? "");
  expect(heard).toBe(4);
});
