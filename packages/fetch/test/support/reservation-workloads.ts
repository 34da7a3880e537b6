import { seededRandom } from "@hivepace/core/testing";
import type { CallInfo, LimitedFetchOptions } from "../../src/index.ts";
import type { Workload } from "./reservation-world.ts";

const LIMIT = 200_000;
/** 3.5 bytes for each token, and the names of the fields. */
const prompt = (bytes: number) => ({ messages: [{ role: "user", content: "bee ".repeat(bytes / 4) }] });

/** Anthropic: cache reads do not count. A prompt that finds no cache fills it and counts. */
function cached(
  { scale, minutes }: Size,
  promptTokens: number,
  isMiss: (worker: number, call: number) => boolean,
  options: LimitedFetchOptions = {},
): Workload {
  const tokens = promptTokens * scale;
  return {
    url: "https://api.anthropic.com/v1/messages",
    endpoint: { id: "anthropic", inputTpmLimit: LIMIT * scale },
    limit: LIMIT * scale,
    workers: 60,
    minutes,
    latencyMs: 2_000,
    options,
    request: () => ({ model: "claude", max_tokens: 1_000, ...prompt(tokens * 3.5) }),
    answer: (worker, call) => {
      const isFilling = isMiss(worker, call);
      const usage = {
        input_tokens: 0.02 * tokens,
        cache_read_input_tokens: isFilling ? 0 : 0.98 * tokens,
        cache_creation_input_tokens: isFilling ? 0.98 * tokens : 0,
        output_tokens: 300,
      };
      return { body: { usage }, counted: isFilling ? tokens : 0.02 * tokens };
    },
  };
}

/** A host without a description, which counts actual usage. */
function generous({ minutes }: Size, output: () => number): Workload {
  return {
    url: "https://models.example/v1/chat/completions",
    endpoint: { id: "models.example", tpmLimit: LIMIT },
    limit: LIMIT,
    workers: 60,
    minutes,
    latencyMs: 4_000,
    request: () => ({ model: "m", max_tokens: 8_192, ...prompt(2_450) }),
    answer: () => {
      const completion_tokens = output();
      return { body: { usage: { prompt_tokens: 700, completion_tokens } }, counted: 700 + completion_tokens };
    },
  };
}

/** A host without a description whose answers take long, so that all workers wait before the first answer. */
function slow(max_tokens: number, latencyMs: number, output: () => number): Workload {
  return {
    ...generous({ scale: 1, minutes: 4 }, output),
    endpoint: { id: "models.example", tpmLimit: LIMIT / 2 },
    limit: LIMIT / 2,
    latencyMs,
    request: () => ({ model: "m", max_tokens, ...prompt(2_450) }),
  };
}

/** How much is simulated. Smaller limits and prompts, in proportion, give the same figures in less time. */
export interface Size {
  readonly scale: number;
  readonly minutes: number;
}

/** Loads on which reservations and actual usage differ, by the property that they show. */
export const WORKLOADS: readonly { readonly name: string; readonly of: (size: Size) => Workload }[] = [
  {
    name: "prompts that are nearly all cached use an input-token limit",
    of: (size) => cached(size, 10_000, (worker, call) => worker === 0 && call === 0),
  },
  {
    name: "prompts that now and then find no cache use an input-token limit and do not exceed it",
    of: (size) => {
      const random = seededRandom(7);
      return cached(size, 4_000, () => random() < 0.01);
    },
  },
  {
    name: "sessions that each fill a cache of their own use an input-token limit and do not exceed it",
    of: (size) => {
      const session = ({ url }: CallInfo) => new URL(url).searchParams.get("worker") ?? undefined;
      return cached(size, 10_000, (worker, call) => call === 0 && worker < 10, { session });
    },
  },
  {
    name: "a max_tokens of 8,192 with answers of 300 tokens uses the limit of an unknown host",
    of: (size) => generous(size, () => 300),
  },
  {
    name: "answers of very different lengths use the limit of an unknown host and do not exceed it",
    of: (size) => {
      const random = seededRandom(3);
      return generous(size, () => Math.round(-300 * Math.log(1 - random() * 0.999)));
    },
  },
  {
    name: "calls that wait for the first answers, which take 20 s, are sent with the usage that those teach",
    of: () => slow(8_192, 20_000, () => 300),
  },
  {
    name: "answers of 2,000 tokens that take 30 s use the limit of an unknown host with a max_tokens of 16,000",
    of: () => slow(16_000, 30_000, () => 2_000),
  },
  {
    name: "short answers that come first do not let an unknown host's limit be exceeded",
    of: () => {
      const random = seededRandom(5);
      const length = () => Math.round(-300 * Math.log(1 - random() * 0.999));
      const load = slow(8_192, 0, length);
      return {
        ...load,
        answer: (worker, call) => {
          const { body, counted } = load.answer(worker, call);
          return { body, counted, latencyMs: 1_000 + 20 * (counted - 700) };
        },
      };
    },
  },
];
