import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Order, Word } from "../agent/words.ts";

/** A thread or a process in which agents run. */
export interface AgentHost {
  send(order: Order): void;
  /** Kills the host without a shutdown, as a crash does. */
  kill(): Promise<void>;
  /** Stops the host gracefully, and kills it after `withinMs`. */
  stop(withinMs: number): Promise<void>;
  /** Resolves when the host has ended, for whatever reason. */
  readonly gone: Promise<void>;
}

export type HostKind = "thread" | "process";

/** Starts a host. `onWord` receives the messages of its agents. */
export function startHost(kind: HostKind, file: URL, onWord: (word: Word) => void): AgentHost {
  return kind === "thread" ? startThread(file, onWord) : startProcess(file, onWord);
}

function startThread(file: URL, onWord: (word: Word) => void): AgentHost {
  // The output of agents is discarded: their warnings concern faults that the demo injects, and would clutter its
  // output.
  const worker = new Worker(file, { execArgv: [], stdout: true, stderr: true });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.on("message", onWord);
  const failed = new Promise<void>((resolve) => worker.once("error", () => resolve()));
  const gone = Promise.race([failed, new Promise<void>((resolve) => worker.once("exit", () => resolve()))]);
  const kill = async (): Promise<void> => void (await worker.terminate());
  return { send: (order) => worker.postMessage(order), kill, stop: gently(worker, kill, gone), gone };
}

function startProcess(file: URL, onWord: (word: Word) => void): AgentHost {
  const child = fork(fileURLToPath(file), [], { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  child.on("message", (word) => onWord(word as Word));
  child.on("error", () => {});
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    // The process could not be started, so no exit event follows.
    child.once("error", () => child.pid === undefined && resolve());
  });
  const send = (order: Order): void => {
    if (child.connected) child.send(order, () => {});
  };
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  return { send, kill, stop: gently({ postMessage: send }, kill, gone), gone };
}

function gently(
  host: { postMessage(order: Order): void },
  kill: () => Promise<void>,
  gone: Promise<void>,
): AgentHost["stop"] {
  return async (withinMs) => {
    host.postMessage({ type: "stop" });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(resolve, withinMs, "late");
    });
    const first = await Promise.race([gone, late]);
    clearTimeout(timer);
    if (first === "late") await kill();
  };
}
