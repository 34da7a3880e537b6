import type { DimensionState } from "./window-limit.ts";

export interface Call {
  readonly model: string;
  readonly isStream: boolean;
  /** A stream says at its end what it used, which OpenAI's do only when they are asked. Default: true. */
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

/** How one provider speaks: what it reads of a request, and the shapes of its answers. */
export interface Protocol {
  readonly name: "openai" | "anthropic" | "gemini";
  /** Undefined when this path is not of this protocol. */
  read(path: string, body: Readonly<Record<string, unknown>>): Omit<Call, "inputTokens" | "outputTokens"> | undefined;
  maxTokens(body: Readonly<Record<string, unknown>>): number | undefined;
  limitHeaders(state: State, epochMs: number): Record<string, string>;
  complete(call: Call): unknown;
  /** The events of a stream, as `data` with an optional name; the text comes in as many pieces as there are tokens. */
  events(call: Call): readonly StreamEvent[];
  /** What ends a stream in its middle when the provider is overloaded. */
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

/** Go's way to write durations, as OpenAI's headers have them. */
export function goDuration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms) / 1_000;
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${Math.round((seconds - minutes * 60) * 1_000) / 1_000}s`;
}
