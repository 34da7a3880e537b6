import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { StartFailedError } from "../errors.ts";
import type { ServerKind } from "../kinds.ts";
import type { Origin } from "../provision/source.ts";
import type { Recipe } from "../recipes/recipe.ts";
import type { OwnServer } from "../server.ts";
import { until } from "../until.ts";
import type { GuardedProcess } from "./guarded-process.ts";
import type { Launch } from "./launch.ts";
import { untilReady } from "./ready.ts";

const SHUT_DOWN_MS = 120_000;

/** Returns the letter of a process's state; "T" for a stopped process. */
async function stateOf(pid: number): Promise<string | undefined> {
  try {
    // The format is "pid (name) state …", where the name may contain anything.
    return (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ").at(-1)?.[0];
  } catch {
    return (await promisify(execFile)("ps", ["-o", "state=", "-p", `${pid}`])).stdout.trim()[0];
  }
}

type Traits = Pick<Recipe<never>, "kind" | "probe" | "startMs" | "url">;

export class RunningServer implements OwnServer {
  readonly kind: ServerKind;
  readonly host = "127.0.0.1";
  readonly limits?: string;
  readonly #traits: Traits;
  readonly #process: GuardedProcess;
  readonly #launch: Launch;
  #port: number;
  #paused = false;

  constructor(
    traits: Traits,
    readonly origin: Origin,
    limits: string | undefined,
    process: GuardedProcess,
    launch: Launch,
    port: number,
  ) {
    this.kind = traits.kind;
    if (limits !== undefined) this.limits = limits;
    this.#traits = traits;
    this.#process = process;
    this.#launch = launch;
    this.#port = port;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return this.#traits.url(this.host, this.#port);
  }

  async start(): Promise<void> {
    const { kind, probe, startMs } = this.#traits;
    await this.#process.start(this.#launch);
    if (this.#launch.portFromLog !== undefined) this.#port = await this.#findPort(this.#launch.portFromLog);
    await untilReady(kind, this.#process, this, probe, startMs);
  }

  async kill(): Promise<void> {
    await this.#process.signal("SIGKILL");
    await this.#process.gone();
    this.#paused = false;
  }

  async shutDown(): Promise<void> {
    await this.#process.signal("SIGTERM");
    await this.resume();
    const gone = await until(() => this.pid === undefined, { deadlineMs: SHUT_DOWN_MS });
    if (gone === undefined) await this.kill();
  }

  async restart(): Promise<void> {
    await this.shutDown();
    await this.start();
  }

  async pause(): Promise<void> {
    await this.#process.signal("SIGSTOP");
    this.#paused = true;
    const { pid } = this;
    if (this.#launch.signals !== undefined) return;
    // Signals are asynchronous, and the server still answers until this one takes effect.
    const stopped = await until(async () => pid === undefined || (await stateOf(pid)) === "T", {
      deadlineMs: SHUT_DOWN_MS,
    });
    if (stopped === undefined) throw new Error(`${this.kind} (process ${pid}) was not suspended by SIGSTOP`);
  }

  async resume(): Promise<void> {
    if (this.#paused) await this.#process.signal("SIGCONT");
    this.#paused = false;
  }

  async stop(): Promise<void> {
    await this.#process.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #findPort(portFromLog: (log: string) => number | undefined): Promise<number> {
    const port = await until(async () => portFromLog(await this.#process.log()), { deadlineMs: this.#traits.startMs });
    if (port === undefined) throw new StartFailedError(this.kind, "did not log its port", await this.#process.log());
    return port;
  }
}
