import type { CallFacts } from "../call/call-facts.ts";
import { rulesOf } from "../call/provider-rules.ts";

/** What a call is thought to use. */
export interface TokenEstimate {
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a report says of one request; what is absent teaches nothing. */
export interface SeenTokens {
  readonly promptTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

interface Learned {
  bytesPerToken: number;
  outputTokens: number | undefined;
}

/** English prose has about 4; a little less, so that the first estimate is rather too high. */
const FIRST_BYTES_PER_TOKEN = 3.5;
const LEAST_BYTES_PER_TOKEN = 0.5;
const MOST_BYTES_PER_TOKEN = 16;
const FIRST_OUTPUT_TOKENS = 512;
/** What an image costs at most providers at most resolutions. */
const TOKENS_PER_ATTACHMENT = 1_600;
/** The weight of the newest report. */
const NEW = 0.2;
const MOST_MODELS = 1_000;

const NOTHING: TokenEstimate = { tokens: 0, inputTokens: 0, outputTokens: 0 };

/** Learns from reported usage how many bytes of a prompt make a token, and how long answers are, for each model. */
export class TokenEstimator {
  readonly #models = new Map<string, Learned>();

  /** What the request will count, by the provider's own rule for the answer that it allows. */
  estimate(provider: string, facts: CallFacts): TokenEstimate {
    if (facts.isFree || (facts.protocol === "other" && facts.model === undefined)) return NOTHING;
    const learned = this.#models.get(keyOf(provider, facts.model));
    const bytesPerToken = learned?.bytesPerToken ?? FIRST_BYTES_PER_TOKEN;
    const inputTokens = Math.ceil(facts.inputBytes / bytesPerToken) + facts.attachments * TOKENS_PER_ATTACHMENT;
    const allowed = facts.maxOutputTokens ?? Infinity;
    const expected = Math.min(allowed, Math.ceil(learned?.outputTokens ?? FIRST_OUTPUT_TOKENS));
    const { output } = rulesOf(provider);
    if (output === "none") return { tokens: inputTokens, inputTokens, outputTokens: expected };
    const outputTokens = output === "reserved" && allowed !== Infinity ? allowed : expected;
    const sum = inputTokens + outputTokens;
    const tokens = output === "at-least" && allowed !== Infinity ? Math.max(allowed, sum) : sum;
    return { tokens, inputTokens, outputTokens };
  }

  /** What it really was. Only whole reports teach; attachments would spoil the ratio. */
  learn(provider: string, facts: CallFacts, { promptTokens, outputTokens }: SeenTokens): void {
    const key = keyOf(provider, facts.model);
    const learned: Learned = this.#models.get(key) ?? { bytesPerToken: FIRST_BYTES_PER_TOKEN, outputTokens: undefined };
    // The newest are kept: a Map remembers the order of setting.
    this.#models.delete(key);
    this.#models.set(key, learned);
    if (this.#models.size > MOST_MODELS) this.#models.delete(this.#models.keys().next().value as string);
    if (promptTokens !== undefined && promptTokens > 0 && facts.inputBytes > 0 && facts.attachments === 0) {
      const seen = Math.min(MOST_BYTES_PER_TOKEN, Math.max(LEAST_BYTES_PER_TOKEN, facts.inputBytes / promptTokens));
      learned.bytesPerToken += NEW * (seen - learned.bytesPerToken);
    }
    if (outputTokens !== undefined) {
      const before = learned.outputTokens ?? outputTokens;
      learned.outputTokens = before + NEW * (outputTokens - before);
    }
  }
}

function keyOf(provider: string, model: string | undefined): string {
  return `${provider}\0${model ?? ""}`;
}
