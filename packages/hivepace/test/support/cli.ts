import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { until } from "@hivepace/test-kit";

const program = fileURLToPath(new URL("../../src/programs/hivepace.ts", import.meta.url));
const loader = import.meta.resolve("tsx");

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command as a separate process, run from source. */
export class Cli {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  out = "";
  err = "";

  /** The environment contains only these variables: neither a namespace of the test run, nor colours. */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string) {
    const node = ["--import", loader, "--conditions", "@hivepace/source", program];
    const { PATH = "", HOME = "" } = process.env;
    this.child = spawn(process.execPath, [...node, ...args], { env: { PATH, HOME, ...env }, cwd });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.out += text;
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.err += text;
    });
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code) => resolve({ code, out: this.out, err: this.err }));
    });
  }

  /** The output so far, parsed as one JSON object per line. */
  get lines(): Record<string, unknown>[] {
    const whole = this.out.split("\n").slice(0, -1);
    return whole.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    await until(() => condition() || this.child.exitCode !== null, what);
    if (!condition()) throw new Error(`the command ended before ${what}:\n${this.out}\n${this.err}`);
  }

  async end(signal: NodeJS.Signals = "SIGINT"): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

export function cli(args: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string): Promise<Ended> {
  return new Cli(args, env, cwd).ended;
}
