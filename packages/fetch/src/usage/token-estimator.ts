import type { CallFacts } from "../call/call-facts.ts";
import { outputRate, type ProviderRules, rulesOf } from "../call/provider-rules.ts";
import { Newest } from "./newest.ts";
import { RunningMean } from "./running-mean.ts";

/** The tokens that a call is expected to count. */
export interface TokenEstimate {
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The usage that an answer reports; an absent part teaches nothing. */
export interface SeenTokens {
  /** All tokens of the prompt, cached or not. */
  readonly promptTokens?: number | undefined;
  /** The part of the prompt that was read from the provider's cache. */
  readonly cachedTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Whether the call was one of the first, as `sent` returned it. */
  readonly isFirst?: boolean | undefined;
}

/** Learned usage of one model. */
class ModelUsage {
  bytesPerToken = FIRST_BYTES_PER_TOKEN;
  /** Tokens of an attachment or a reference, beyond those of the text. */
  readonly perItem = new RunningMean(NEW);
  /** The cached part of prompts, 0 to 1. The small weight remembers rare cache misses for long. */
  readonly cachedPart = new RunningMean(NEW / 8);
  readonly output = new RunningMean(NEW / 2);
  /** Number of answers that reported usage, and that number when waiting calls were last estimated again. */
  answers = 0;
  revisedAt = 0;
  /** Number of calls sent before the first answer, without those that failed, and of their answers. */
  firstCalls = 0;
  firstAnswers = 0;

  /**
   * Whether the mean length of answers is known. The shortest answers come first, so that it is not before all calls
   * that were sent at the start are answered, or four times as many in all, because a call may hang.
   */
  get isLengthKnown(): boolean {
    const { count } = this.output;
    return count >= ENOUGH && (this.firstAnswers >= this.firstCalls || count >= 4 * this.firstCalls);
  }
}

/** Learned usage of one session of a model. */
class SessionUsage {
  /** The cached parts of the last two prompts: a cache that has just been filled is there for the next call. */
  cachedParts: readonly number[] = [];
  promptTokens = 0;
  outputTokens = 0;
  readonly output = new RunningMean(NEW);
}

/**
 * English prose has about 4 bytes per token. A smaller number makes the first estimate too high rather than too low.
 */
const FIRST_BYTES_PER_TOKEN = 3.5;
const LEAST_BYTES_PER_TOKEN = 0.5;
const MOST_BYTES_PER_TOKEN = 16;
const FIRST_OUTPUT_TOKENS = 512;
/** The tokens of an image at most providers at most resolutions; of a file or an earlier answer as a first guess. */
const FIRST_TOKENS_PER_ITEM = 1_600;
/** The weight of the newest report. */
const NEW = 0.2;
/** Number of answers from which on the mean replaces a safe estimate. */
const ENOUGH = 3;
const MOST_MODELS = 1_000;
const MOST_SESSIONS = 10_000;
const NOTHING: TokenEstimate = { tokens: 0, inputTokens: 0, outputTokens: 0 };

/**
 * Learns from reported usage what calls will count: for each model the bytes of a token, the tokens of attachments and of
 * input that the server adds, the cached part of prompts and the length of answers; for each session the last three. No
 * part is learned from calls in which another part hides it.
 */
export class TokenEstimator {
  readonly #models = new Newest<ModelUsage>(MOST_MODELS);
  readonly #sessions = new Newest<SessionUsage>(MOST_SESSIONS);
  /** Listeners of the calls that wait, by model. */
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Estimates the tokens of a call by the provider's rules for cached input and `max_tokens`. */
  estimate(provider: string, facts: CallFacts, session?: string): TokenEstimate {
    if (facts.isFree || (facts.protocol === "other" && facts.model === undefined)) return NOTHING;
    const rules = rulesOf(provider, facts.protocol);
    const model = this.#models.get(keyOf(provider, facts.model));
    const current = session === undefined ? undefined : this.#sessions.get(keyOf(provider, facts.model, session));
    const prompt = promptOf(facts, model, current);
    const cached = rules.countsCachedInput ? 0 : cachedOf(prompt, model, current, session !== undefined);
    const inputTokens = Math.ceil(prompt - cached);
    return { inputTokens, ...outputOf(rules, facts, inputTokens, model, current) };
  }

  /** Learns from the reported usage of an answer. */
  learn(provider: string, facts: CallFacts, seen: SeenTokens, session?: string): void {
    const { promptTokens = 0, cachedTokens = 0, outputTokens, isFirst } = seen;
    const model = this.#models.use(keyOf(provider, facts.model), () => new ModelUsage());
    const wasKnown = model.isLengthKnown;
    const current =
      session === undefined
        ? undefined
        : this.#sessions.use(keyOf(provider, facts.model, session), () => new SessionUsage());
    if (promptTokens > 0) {
      const items = itemsOf(facts);
      if (items > 0) model.perItem.add(Math.max(0, promptTokens - facts.inputBytes / model.bytesPerToken) / items);
      else if (facts.inputBytes > 0) {
        const ratio = facts.inputBytes / promptTokens;
        const sane = Math.min(MOST_BYTES_PER_TOKEN, Math.max(LEAST_BYTES_PER_TOKEN, ratio));
        model.bytesPerToken += NEW * (sane - model.bytesPerToken);
      }
      const part = Math.min(1, cachedTokens / promptTokens);
      model.cachedPart.add(part);
      if (current !== undefined) {
        current.cachedParts = [...current.cachedParts.slice(-1), part];
        current.promptTokens = promptTokens;
      }
    }
    if (outputTokens !== undefined) {
      model.output.add(outputTokens);
      current?.output.add(outputTokens);
      if (current !== undefined) current.outputTokens = outputTokens;
    }
    model.answers++;
    if (isFirst) model.firstAnswers++;
    // The calls of a long line are estimated again a few times, not after every answer.
    const isBetter = model.answers >= Math.max(ENOUGH, 2 * model.revisedAt) || wasKnown !== model.isLengthKnown;
    if (!isBetter) return;
    model.revisedAt = model.answers;
    for (const listener of [...(this.#listeners.get(keyOf(provider, facts.model)) ?? [])]) listener();
  }

  /** Counts a call that is sent. Returns true for the first ones of a model, sent before any answer. */
  sent(provider: string, facts: CallFacts): boolean {
    if (facts.isFree) return false;
    const model = this.#models.use(keyOf(provider, facts.model), () => new ModelUsage());
    if (model.answers > 0) return false;
    model.firstCalls++;
    return true;
  }

  /** One of the first calls failed: it will not show the length of an answer. */
  failed(provider: string, facts: CallFacts): void {
    const model = this.#models.get(keyOf(provider, facts.model));
    if (model !== undefined && model.firstCalls > 0) model.firstCalls--;
  }

  /**
   * Calls the listener when estimates for the call's model have become considerably better. Returns a function that ends
   * this.
   */
  onLearned(provider: string, { model }: CallFacts, listener: () => void): () => void {
    const key = keyOf(provider, model);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }
}

function itemsOf({ attachments, references = 0 }: CallFacts): number {
  return attachments + references;
}

/**
 * Estimates all tokens of the prompt. A session that refers to its earlier answers sends them again, on the server's
 * side.
 */
function promptOf(facts: CallFacts, model: ModelUsage | undefined, session: SessionUsage | undefined): number {
  const text = Math.ceil(facts.inputBytes / (model?.bytesPerToken ?? FIRST_BYTES_PER_TOKEN));
  const items = itemsOf(facts);
  if (items === 0) return text;
  const perItem = model !== undefined && model.perItem.count > 0 ? model.perItem.upper : FIRST_TOKENS_PER_ITEM;
  const known = facts.continues && session !== undefined ? session.promptTokens + session.outputTokens : 0;
  return text + Math.max(known, Math.ceil(items * perItem));
}

/** Estimates the cached tokens of a prompt, which are at most those of the session's last prompt. */
function cachedOf(
  prompt: number,
  model: ModelUsage | undefined,
  current: SessionUsage | undefined,
  hasSession: boolean,
): number {
  if (hasSession) {
    // The first prompt of a session fills the cache.
    if (current === undefined || current.cachedParts.length < 2) return 0;
    return Math.min(Math.min(...current.cachedParts) * prompt, current.promptTokens);
  }
  return model !== undefined && model.cachedPart.count >= ENOUGH ? model.cachedPart.mean * prompt : 0;
}

function outputOf(
  rules: ProviderRules,
  { maxOutputTokens: allowed = Infinity, model: name }: CallFacts,
  inputTokens: number,
  model: ModelUsage | undefined,
  current: SessionUsage | undefined,
): Pick<TokenEstimate, "tokens" | "outputTokens"> {
  const seen = current !== undefined && current.output.count >= ENOUGH ? current.output : model?.output;
  const isKnown = seen !== undefined && (seen !== model?.output || model.isLengthKnown);
  const hasSeen = seen !== undefined && seen.count > 0;
  const expected = Math.min(allowed, Math.ceil(hasSeen ? seen.upper : FIRST_OUTPUT_TOKENS));
  const weighed = expected * outputRate(rules, name);
  if (rules.output === "none") return { tokens: inputTokens, outputTokens: expected };
  const isReserved = rules.output === "reserved" || (rules.output === "learned" && !isKnown);
  if (isReserved && allowed !== Infinity)
    return { tokens: inputTokens + Math.max(allowed, weighed), outputTokens: allowed };
  const sum = inputTokens + weighed;
  const tokens = rules.output === "at-least" && allowed !== Infinity ? Math.max(allowed, sum) : sum;
  return { tokens, outputTokens: expected };
}

function keyOf(provider: string, model: string | undefined, session = ""): string {
  return `${provider}\0${model ?? ""}\0${session}`;
}
