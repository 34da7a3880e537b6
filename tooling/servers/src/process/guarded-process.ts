import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { run } from "../provision/run.ts";
import type { ControlSignal, Launch } from "./launch.ts";

const guardFile = fileURLToPath(new URL("./guard.mjs", import.meta.url));

interface GuardEvent {
  readonly pid?: number;
  readonly error?: string;
  readonly exit?: number | string;
}

/** A process that can be started repeatedly in the same folder, and that never outlives its owner (see guard.mjs). */
export class GuardedProcess {
  readonly #dir: string;
  readonly #guard: ChildProcessByStdio<Writable, Readable, null>;
  readonly #guardGone: Promise<unknown>;
  #launch: Launch | undefined;
  #pid: number | undefined;
  #started: PromiseWithResolvers | undefined;
  #exited: PromiseWithResolvers | undefined;

  /** From here on the guard removes the folder when this process ends. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#guard = spawn(process.execPath, [guardFile, dir], {
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    this.#guardGone = once(this.#guard, "exit").then(() => this.#onEvent({ exit: "guard gone" }));
    this.#guard.stdin.on("error", () => {});
    createInterface({ input: this.#guard.stdout }).on("line", (line) => this.#onEvent(JSON.parse(line)));
  }

  /** The process id of the current run; undefined while the process is down. */
  get pid(): number | undefined {
    return this.#pid;
  }

  async start(launch: Launch): Promise<void> {
    if (this.#pid !== undefined) throw new Error(`already running as process ${this.#pid}`);
    if (!this.#guard.stdin.writable) throw new Error("already stopped for good");
    this.#launch = launch;
    this.#started = withResolvers();
    this.#exited = withResolvers();
    const { command, args, cwd = this.#dir, env, cleanup } = launch;
    this.#guard.stdin.write(`${JSON.stringify({ command, args, cwd, env, cleanup })}\n`);
    await this.#started.promise;
  }

  /** Delivers a signal to the process and its children. Does nothing while the process is down. */
  async signal(signal: ControlSignal): Promise<void> {
    if (this.#pid === undefined) return;
    const instead = this.#launch?.signals?.[signal];
    if (instead !== undefined) await run(instead.command, instead.args, instead);
    else process.kill(-this.#pid, signal);
  }

  /** Resolves when the last started process has exited and been reaped. */
  async gone(): Promise<void> {
    await this.#exited?.promise;
  }

  /** Ends everything: the process, its folder, the guard. */
  async end(): Promise<void> {
    this.#guard.stdin.end();
    await this.#guardGone;
  }

  /** Returns the output of all runs so far, stdout and stderr. */
  log(): Promise<string> {
    return readFile(join(this.#dir, "server.log"), "utf8").catch(() => "");
  }

  #onEvent(event: GuardEvent): void {
    if (event.pid !== undefined) {
      this.#pid = event.pid;
      this.#started?.resolve();
    } else {
      this.#pid = undefined;
      this.#started?.reject(new Error(event.error ?? `ended at once (${event.exit})`));
      this.#exited?.resolve();
    }
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

// Promise.withResolvers requires Node 22.
function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => {};
  let reject = (_error: Error): void => {};
  const promise = new Promise<void>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
