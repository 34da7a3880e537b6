import { type ChildProcess, fork } from "node:child_process";
import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CaseInfo, CaseResult } from "./case.ts";

export interface Question {
  readonly file: string;
  readonly id: string;
}

export interface Answer {
  readonly id: string;
  readonly result?: CaseResult;
  /** Why the case failed, with its stack. */
  readonly error?: string;
}

/** One worker process and its current case. */
interface Worker {
  readonly child: ChildProcess;
  readonly log: WriteStream;
  readonly logFile: string;
}

/**
 * Runs cases in worker processes, one case at a time in each. A worker that dies fails the case that it was running, and a
 * new one takes its place; no case can disturb another.
 */
export class WorkerPool {
  readonly #logFolder: string;
  readonly #workerFile: string;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  #started = 0;

  constructor(logFolder: string, workerFile = fileURLToPath(new URL("./worker.ts", import.meta.url))) {
    this.#logFolder = logFolder;
    this.#workerFile = workerFile;
  }

  /** Runs a case on an idle worker, or on a new one. Resolves with the outcome; never rejects. */
  async run({ file, id }: CaseInfo): Promise<Answer & { readonly logFile: string }> {
    const worker = this.#idle.pop() ?? this.#start();
    const { child, logFile } = worker;
    worker.log.write(`\n=== ${id}\n`);
    const answer = await new Promise<Answer>((resolve) => {
      const finish = (answer: Answer): void => {
        child.off("message", onMessage).off("exit", onExit).off("error", onError);
        resolve(answer);
      };
      const onMessage = (message: unknown): void => {
        this.#idle.push(worker);
        finish(message as Answer);
      };
      const onExit = (code: number | null, signal: string | null): void => {
        this.#all.delete(worker);
        finish({ id, error: `the worker process ended with ${signal ?? `exit code ${code}`} while it ran this case` });
      };
      const onError = (error: Error): void => {
        this.#end(worker);
        finish({ id, error: `the worker process failed: ${error.message}` });
      };
      child.on("message", onMessage).on("exit", onExit).on("error", onError);
      child.send({ file, id } satisfies Question);
    });
    return { ...answer, logFile };
  }

  /** Kills all workers, whatever their state. */
  close(): void {
    for (const worker of this.#all) this.#end(worker);
    this.#idle.length = 0;
  }

  #start(): Worker {
    const logFile = join(this.#logFolder, `worker-${++this.#started}.log`);
    const child = fork(this.#workerFile, {
      execArgv: ["--import", "tsx", "--conditions", "@hivepace/source", "--expose-gc"],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const log = createWriteStream(logFile);
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    child.once("exit", () => log.end());
    const worker = { child, log, logFile };
    this.#all.add(worker);
    return worker;
  }

  #end(worker: Worker): void {
    this.#all.delete(worker);
    worker.child.kill("SIGKILL");
  }
}
