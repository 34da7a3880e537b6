import { seededRandom } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import type { CallInfo, LimitedFetchOptions } from "../src/index.ts";
import { type Figures, reservationsOf } from "./support/reservation-world.ts";

const LIMIT = 200_000;
/** 3.5 bytes for each token, and the names of the fields. */
const prompt = (bytes: number) => ({ messages: [{ role: "user", content: "bee ".repeat(bytes / 4) }] });

function expectWellUsed({ utilization, overshoot }: Figures): void {
  expect(utilization).toBeGreaterThanOrEqual(0.9);
  expect(overshoot).toBeLessThanOrEqual(1.05);
}

/** Smaller than real limits and prompts, in proportion: building and measuring long prompts takes most of the time. */
const CACHED_LIMIT = 50_000;

/** Anthropic: cache reads do not count. A prompt that finds no cache fills it and counts. */
const cached = (
  promptTokens: number,
  isMiss: (worker: number, call: number) => boolean,
  options: LimitedFetchOptions = {},
) =>
  reservationsOf({
    url: "https://api.anthropic.com/v1/messages",
    endpoint: { id: "anthropic", inputTpmLimit: CACHED_LIMIT },
    limit: CACHED_LIMIT,
    workers: 60,
    minutes: 2,
    latencyMs: 2_000,
    options,
    request: () => ({ model: "claude", max_tokens: 1_000, ...prompt(promptTokens * 3.5) }),
    answer: (worker, call) => {
      const isFilling = isMiss(worker, call);
      const usage = {
        input_tokens: 0.02 * promptTokens,
        cache_read_input_tokens: isFilling ? 0 : 0.98 * promptTokens,
        cache_creation_input_tokens: isFilling ? 0.98 * promptTokens : 0,
        output_tokens: 300,
      };
      return { body: { usage }, counted: isFilling ? promptTokens : 0.02 * promptTokens };
    },
  });

/** A host that nobody has described, and that counts actual usage. */
const generous = (output: () => number) =>
  reservationsOf({
    url: "https://models.example/v1/chat/completions",
    endpoint: { id: "models.example", tpmLimit: LIMIT },
    limit: LIMIT,
    workers: 60,
    minutes: 2,
    latencyMs: 4_000,
    request: () => ({ model: "m", max_tokens: 8_192, ...prompt(2_450) }),
    answer: () => {
      const completion_tokens = output();
      return { body: { usage: { prompt_tokens: 700, completion_tokens } }, counted: 700 + completion_tokens };
    },
  });

test("prompts that are nearly all cached use an input-token limit", async () => {
  expectWellUsed(await cached(2_500, (worker, call) => worker === 0 && call === 0));
});

test("prompts that now and then find no cache use an input-token limit and do not exceed it", async () => {
  const random = seededRandom(7);
  expectWellUsed(await cached(1_000, () => random() < 0.01));
});

test("sessions that each fill a cache of their own use an input-token limit and do not exceed it", async () => {
  const session = ({ url }: CallInfo) => new URL(url).searchParams.get("worker") ?? undefined;
  expectWellUsed(await cached(2_500, (worker, call) => call === 0 && worker < 10, { session }));
});

test("a max_tokens of 8,192 with answers of 300 tokens uses the limit of an unknown host", async () => {
  expectWellUsed(await generous(() => 300));
});

test("answers of very different lengths use the limit of an unknown host and do not exceed it", async () => {
  const random = seededRandom(3);
  expectWellUsed(await generous(() => Math.round(-300 * Math.log(1 - random() * 0.999))));
});
