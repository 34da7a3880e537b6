import { setMaxListeners } from "node:events";
import type { Clock } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { CYCLE_MS, LATENCY_MS, TASK_CALLS, tokenSizes, workersFor } from "../demand.ts";
import { type Sleep, sleeper } from "../lapse-clock.ts";
import { chatRequest } from "./chat-request.ts";
import type { AgentTask, Counts } from "./words.ts";

/** Sends one call. `tokens`: the tokens that the provider will count. */
export type Call = (url: string, init: RequestInit & { signal: AbortSignal }, tokens: number) => Promise<Response>;

/** Distance between the seeds of two tasks. */
const SEED_STEP = 1_299_709;

/**
 * The work of one agent: a number of workers, each with one task at a time. A task is a chain of {@link TASK_CALLS}
 * calls, each sent after the previous answer and a pause for the agent's own work. A task fails when one of its calls
 * fails for good. The nth task of an agent is the same in every row of the demo.
 */
export class Workers {
  readonly #task: AgentTask;
  readonly #call: Call;
  readonly #clock: Clock;
  readonly #sleep: Sleep;
  readonly #stop = new AbortController();
  readonly #counts = { answered: 0, failed: 0, tasksFinished: 0, tasksFailed: 0, wastedCalls: 0, wastedTokens: 0 };
  readonly #running = new Set<Promise<void>>();
  /** The agent's offset in its first tasks, from 0 to 1, so that agents with one worker start at different points. */
  readonly #offset: number;
  #latencies: number[] = [];
  #pending = 0;
  #begun = 0;
  #callsPerSecond = 0;
  #wantedCalls = 0;
  #wantedAt: number;

  constructor(task: AgentTask, call: Call, clock: Clock) {
    this.#task = task;
    this.#call = call;
    // Every call and every pause of all workers adds a listener, more than Node's default warning allows.
    setMaxListeners(0, this.#stop.signal);
    this.#clock = clock;
    this.#sleep = sleeper(clock);
    this.#wantedAt = clock.now();
    this.#offset = seededRandom(task.seed)();
    this.callsPerSecond = task.callsPerSecond;
  }

  get counts(): Counts {
    this.#want();
    return {
      ...this.#counts,
      wantedCalls: this.#wantedCalls,
      wantedTokens: this.#wantedCalls * this.#task.meanTokens,
      pending: this.#pending,
    };
  }

  /** Returns the latencies recorded since the last call of this method, in milliseconds, and forgets them. */
  takeLatencies(): number[] {
    const latencies = this.#latencies;
    this.#latencies = [];
    return latencies;
  }

  /** The agent's demand: the calls per second it would make if no call had to wait. */
  set callsPerSecond(calls: number) {
    this.#want();
    this.#callsPerSecond = calls;
    const wanted = workersFor(calls);
    const isStart = this.#begun === 0;
    for (let i = this.#running.size; i < wanted && !this.#stop.signal.aborted; i++)
      // The first tasks of an agent start part of the way through, so that tasks do not all end at the same time.
      this.#employ(isStart ? Math.floor(((i + this.#offset) / wanted) * TASK_CALLS) : 0);
  }

  /** Aborts all calls under way; their tasks count as neither finished nor failed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  #want(): void {
    const now = this.#clock.now();
    this.#wantedCalls += (this.#callsPerSecond * (now - this.#wantedAt)) / 1_000;
    this.#wantedAt = now;
  }

  /** Starts one more worker, which skips `ahead` calls of its first task. */
  #employ(ahead: number): void {
    const working = this.#work(ahead)
      .catch(() => {})
      .finally(() => this.#running.delete(working));
    this.#running.add(working);
  }

  async #work(ahead: number): Promise<void> {
    await this.#runTask(ahead);
    while (this.#running.size <= workersFor(this.#callsPerSecond)) await this.#runTask(0);
  }

  /** Rejects when the agent stops. */
  async #runTask(ahead: number): Promise<void> {
    const random = seededRandom(this.#task.seed + SEED_STEP * ++this.#begun);
    const size = tokenSizes(random, this.#task.medianTokens, this.#task.mostTokens);
    let [calls, tokens] = [0, 0];
    for (let i = ahead; i < TASK_CALLS; i++) {
      await this.#sleep(this.#thinkMs() * (0.5 + random()), this.#stop.signal);
      const wanted = size();
      const cost = await this.#send(wanted, random() < STREAMED);
      if (cost === undefined) {
        this.#counts.tasksFailed++;
        this.#counts.wastedCalls += calls;
        this.#counts.wastedTokens += tokens;
        return;
      }
      calls++;
      tokens += cost;
    }
    this.#counts.tasksFinished++;
  }

  /** The pause between an answer and the next call of a task that makes all workers together reach the demand. */
  #thinkMs(): number {
    const calls = this.#callsPerSecond;
    return calls > 0 ? Math.max(0, (workersFor(calls) * 1_000) / calls - LATENCY_MS.mean) : CYCLE_MS;
  }

  /** Returns the tokens of the call; undefined when the call failed for good. */
  async #send(wanted: number, isStream: boolean): Promise<number | undefined> {
    const { agentId, providerUrl } = this.#task;
    const { url, init, tokens } = chatRequest(providerUrl, agentId, wanted, isStream);
    const { signal } = this.#stop;
    const startedAt = this.#clock.now();
    this.#pending++;
    try {
      const response = await this.#call(url, { ...init, signal }, tokens);
      await response.arrayBuffer();
      if (response.ok) {
        this.#counts.answered++;
        this.#latencies.push(Math.round(this.#clock.now() - startedAt));
        return tokens;
      }
    } catch {
      signal.throwIfAborted();
    } finally {
      this.#pending--;
    }
    this.#counts.failed++;
    return undefined;
  }
}

/** The fraction of calls that are streamed. */
const STREAMED = 0.25;
