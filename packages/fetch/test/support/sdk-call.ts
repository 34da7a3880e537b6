import type { Gate } from "@hivepace/core";
import { createLimitedFetch, type LimitedFetchOptions } from "../../src/index.ts";
import { collect } from "./streams.ts";

export type Fetch = typeof globalThis.fetch;

/** One call of an SDK, and the surroundings that its user configures. */
export interface SdkCall {
  readonly gate: Gate;
  /** Sends a request to the provider. */
  readonly send: Fetch;
  readonly options: LimitedFetchOptions<Fetch>;
  readonly isStream: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** An SDK as users write it, with a limited fetch or the middleware. */
export interface SdkRow {
  /** The name on npm, and the name it is installed by here. */
  readonly sdk: string;
  readonly installed: string;
  /** The provider that receives the requests of the limited fetch. */
  readonly where: string;
  /** The retries of the SDK itself: `header` heeds x-should-retry, `none` never retries, `set` needs `maxRetries: 0`. */
  readonly retries: "header" | "none" | "mark" | "set";
  /**
   * How the SDK communicates its timeout: in a header, by aborting the signal of the request, or not at all because it
   * has none.
   */
  readonly timeout: "header" | "signal" | "none";
  readonly model: string;
  /** Makes the call, with `maxRetries: 0` where the SDK has that option, and returns the text of the answer. */
  readonly ask: (call: SdkCall) => Promise<string>;
}

export const PROMPT = "What do bees do all day?";
export const chat = (model: string) => ({ model, messages: [{ role: "user" as const, content: PROMPT }] });
const message = { model: "claude-x", max_tokens: 64, messages: [{ role: "user" as const, content: PROMPT }] };

/** The fetch that a user makes for the SDK. */
export function limited({ gate, send, options }: SdkCall): Fetch {
  return createLimitedFetch<Fetch>(gate, { ...options, fetch: send });
}

/** Options of a client that OpenAI's, Anthropic's or Groq's generator made. They retry timeouts, which the test does not want. */
export function clientOptions(call: SdkCall): { fetch: Fetch; timeout?: number; maxRetries?: number } {
  const { timeoutMs } = call;
  return { fetch: limited(call), ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, maxRetries: 0 }) };
}

export function requestOptions({ signal }: SdkCall): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** A client of OpenAI's shape, as far as it is called. */
interface ChatClient {
  chat: { completions: { create(request: never, options: object): Promise<unknown> } };
}

export async function completion(client: ChatClient, model: string, call: SdkCall): Promise<string> {
  const { completions } = client.chat;
  const usage = { stream: true, stream_options: { include_usage: true } };
  const request = { ...chat(model), ...(call.isStream ? usage : {}) };
  const answer = await completions.create(request as never, requestOptions(call));
  if (!call.isStream) return (answer as Completion).choices[0]?.message?.content ?? "";
  return collect(answer as AsyncIterable<Completion>, ({ choices }) => choices[0]?.delta?.content);
}

export interface Completion {
  readonly choices: readonly {
    readonly message?: { readonly content: string };
    readonly delta?: { readonly content?: string };
  }[];
}

interface MessagesClient {
  messages: {
    create(request: never, options: object): Promise<unknown>;
  };
}

export async function messageText({ messages }: MessagesClient, call: SdkCall): Promise<string> {
  const request = { ...message, ...(call.isStream ? { stream: true } : {}) };
  const answer = await messages.create(request as never, requestOptions(call));
  if (!call.isStream) return textOf((answer as { content: TextBlock[] }).content);
  return collect(answer as AsyncIterable<{ delta?: { text?: string } }>, ({ delta }) => delta?.text);
}

interface TextBlock {
  readonly text?: string;
}

function textOf(content: readonly TextBlock[]): string {
  return content.map(({ text = "" }) => text).join("");
}
