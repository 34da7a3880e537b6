import { tokenSizes } from "../demand.ts";
import type { AgentTask, Counts } from "./words.ts";

/** More than this wait at no agent: whoever has more to do than it can get puts the rest off. */
const MOST_PENDING = 40;
/** What stands in a body besides its prompt, in bytes. */
const FRAME_BYTES = 120;
const BYTES_PER_TOKEN = 4;
const MOST_ANSWER_TOKENS = 48;
/** An answer's part of a call. */
const ANSWER_PART = 0.1;
/** In this time after its start an agent also begins what it had waiting. */
const START_MS = 1_000;
/** One in so many is streamed. */
const STREAMED = 4;

export type Call = (url: string, init: RequestInit) => Promise<Response>;

/** Begins calls as they come, at a pace that is told, however long each takes. */
export class Caller {
  readonly #task: AgentTask;
  readonly #call: Call;
  readonly #random: () => number;
  readonly #size: () => number;
  readonly #stop = new AbortController();
  readonly #counts = { wantedCalls: 0, wantedTokens: 0, answered: 0, failed: 0, shed: 0 };
  readonly #pending = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  #callsPerSecond: number;
  /** When the next call is due. */
  #nextAt = this.#startedAt;
  #timer: NodeJS.Timeout | undefined;

  constructor(task: AgentTask, random: () => number, call: Call) {
    this.#task = task;
    this.#random = random;
    this.#call = call;
    this.#size = tokenSizes(random, task.medianTokens, task.mostTokens);
    this.#callsPerSecond = task.callsPerSecond;
    this.#plan(this.#startedAt);
  }

  get counts(): Counts {
    return { ...this.#counts, pending: this.#pending.size };
  }

  set callsPerSecond(calls: number) {
    this.#callsPerSecond = calls;
    clearTimeout(this.#timer);
    this.#plan(performance.now());
  }

  /** What is under way is given up. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stop.abort();
    await Promise.all(this.#pending);
  }

  /** The next call after this time. They are independent of each other: exponential times between them. */
  #plan(after: number): void {
    const isStarting = after - this.#startedAt < START_MS;
    const perSecond = this.#callsPerSecond + (isStarting ? (this.#task.backlog * 1_000) / START_MS : 0);
    if (this.#stop.signal.aborted || !(perSecond > 0)) return;
    this.#nextAt = after - (Math.log(1 - this.#random()) * 1_000) / perSecond;
    const inMs = this.#nextAt - performance.now();
    // What is due already comes at once, one after the other: a machine that is late does not make less demand.
    this.#timer = setTimeout(() => this.#due(), Math.max(0, inMs));
  }

  #due(): void {
    this.#begin();
    this.#plan(this.#nextAt);
  }

  #begin(): void {
    const tokens = this.#size();
    const isStream = this.#random() * STREAMED < 1;
    this.#counts.wantedCalls++;
    this.#counts.wantedTokens += tokens;
    if (this.#pending.size >= MOST_PENDING) {
      this.#counts.shed++;
      return;
    }
    const done = this.#send(tokens, isStream).finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }

  async #send(tokens: number, isStream: boolean): Promise<void> {
    const { agentId, providerUrl } = this.#task;
    const answerTokens = Math.max(1, Math.min(MOST_ANSWER_TOKENS, Math.round(ANSWER_PART * tokens)));
    const promptBytes = Math.max(1, (tokens - answerTokens) * BYTES_PER_TOKEN - FRAME_BYTES);
    const body = JSON.stringify({
      model: "claude-demo",
      max_tokens: answerTokens,
      stream: isStream,
      messages: [{ role: "user", content: "x".repeat(promptBytes) }],
    });
    const headers = { "content-type": "application/json", "x-agent": agentId };
    try {
      const { signal } = this.#stop;
      const response = await this.#call(`${providerUrl}/v1/messages`, { method: "POST", headers, body, signal });
      await response.arrayBuffer();
      if (response.ok) this.#counts.answered++;
      else this.#counts.failed++;
    } catch {
      // Given up at the end, or the provider is gone: nobody has an answer.
      if (!this.#stop.signal.aborted) this.#counts.failed++;
    }
  }
}
