import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** Where and when the figures were taken: without it they mean nothing to anyone else. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly node: string;
  readonly v8: string;
  readonly date: string;
  /** What else was running: the load of the minute before. */
  readonly load: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
    date: new Date().toISOString(),
    load: loadavg()[0] ?? 0,
  };
}
