import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** The machine and conditions of the measurement, without which the figures mean nothing to other readers. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly node: string;
  readonly v8: string;
  readonly date: string;
  /** The load average of the previous minute. */
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
