import type { DimensionState } from "./window-limit.ts";

export interface Call {
  readonly model: string;
  readonly isStream: boolean;
  /** Whether a stream ends with its usage, which OpenAI's streams do only on request. Default: true. */
  readonly tellsUsage?: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface State {
  readonly requests: DimensionState | undefined;
  readonly tokens: DimensionState | undefined;
}

interface Refusal {
  readonly limitedBy: "requests" | "tokens" | undefined;
  readonly retryAfterMs: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The protocol of one provider: how requests are read, and the shapes of responses. */
export interface Protocol {
  readonly name: "openai" | "anthropic" | "gemini";
  /** Undefined when the path does not belong to this protocol. */
  read(path: string, body: Readonly<Record<string, unknown>>): Omit<Call, "inputTokens" | "outputTokens"> | undefined;
  maxTokens(body: Readonly<Record<string, unknown>>): number | undefined;
  limitHeaders(state: State, epochMs: number): Record<string, string>;
  complete(call: Call): unknown;
  /** The events of a stream, as `data` with an optional name, with one piece of text per token. */
  events(call: Call): readonly StreamEvent[];
  /** The event that aborts a stream when the provider is overloaded. */
  overloadEvent(): StreamEvent;
  tooMany(refusal: Refusal): Answer;
  overloaded(): Answer;
  spent(): Answer;
}

export interface StreamEvent {
  readonly event?: string;
  readonly data: string;
}

/** One token of every answer. */
export const WORD = "bee ";

/** Formats a duration as Go does, and as OpenAI's headers have them. */
export function goDuration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms) / 1_000;
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${Math.round((seconds - minutes * 60) * 1_000) / 1_000}s`;
}
