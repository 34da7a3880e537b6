import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { AgentTask, Holdings, Order, Word } from "./words.ts";

/** The time limit of an order, longer than any order takes. */
const PATIENCE_MS = 300_000;
/** The time limit for the exit of a process that has closed everything. */
const ENDING_MS = 5_000;
const STDERR_KEPT = 2_000;

type State = Extract<Word, { type: "state" }>;

/** The parent's handle of one process of the swarm. */
export class Child {
  readonly id: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #waiting = new Map<number, (word: Extract<Word, { type: "done" }>) => void>();
  #orders = 0;
  #stderr = "";
  /** The last reported state. Set to undefined to wait for a fresh one. */
  state: State | undefined;
  cuts: number[] = [];
  refusals: number[] = [];

  /** `folder`: the directory for temporary files of the process. */
  constructor(file: string, task: AgentTask, folder: string) {
    this.id = task.agentId;
    this.#process = fork(file, [JSON.stringify(task)], {
      execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, TMPDIR: folder },
    });
    this.#ended = once(this.#process, "exit");
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    this.#process.on("message", (word: Word) => this.#receive(word));
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Describes the exit of the process, with the end of its stderr. */
  get end(): string {
    const { exitCode, signalCode } = this.#process;
    return `${this.id} ended with ${signalCode ?? exitCode}${this.#stderr === "" ? "" : `: ${this.#stderr}`}`;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  /** Resolves when the order is carried out; rejects when it fails or exceeds `PATIENCE_MS`. */
  async ask(act: Order["act"], round: number): Promise<Holdings> {
    const id = this.#orders++;
    const done = new Promise<Extract<Word, { type: "done" }>>((resolve) => this.#waiting.set(id, resolve));
    this.#process.send({ act, round, id } satisfies Order, () => {});
    const { holdings = {}, error } = await this.#within(PATIENCE_MS, done, act);
    if (error !== undefined) throw new Error(`${this.id} could not ${act}: ${error}`);
    return holdings;
  }

  /** Orders the process to close everything. Resolves with whether it then exited by itself. */
  async leave(): Promise<boolean> {
    if (!this.isAlive) return false;
    await this.ask("leave", 0);
    try {
      await this.#within(ENDING_MS, this.#ended, "end");
    } catch {
      await this.kill();
      return false;
    }
    return this.#process.exitCode === 0;
  }

  #receive(word: Word): void {
    if (word.type === "state") this.state = word;
    else if (word.type === "cut") this.cuts.push(word.at);
    else if (word.type === "refused") this.refusals.push(word.at);
    else {
      this.#waiting.get(word.id)?.(word);
      this.#waiting.delete(word.id);
    }
  }

  async #within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${this.id} did not ${what} within ${ms} ms`)), ms);
    });
    const gone = what === "end" ? late : this.#ended.then(() => Promise.reject(new Error(this.end)));
    gone.catch(() => {});
    try {
      return await Promise.race([work, late, gone]);
    } finally {
      clearTimeout(timer);
    }
  }
}
