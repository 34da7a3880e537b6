import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { seededRandom } from "@hivepace/core/testing";
import { shuffled } from "../random.ts";
import type { Row } from "../row.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

/** The kinds of listeners on the diagnostics channels. */
const LISTENERS = ["no channels", "nobody", "OpenTelemetry"] as const;
export type Listener = (typeof LISTENERS)[number];

/** Nanoseconds of one call. */
export interface ObservedReading {
  readonly tryAcquire: number;
  readonly lease: number;
}

/** The longest time in nanoseconds that OpenTelemetry's metrics may add to one call. */
const WANTED_NS = 1_000;

const CALLS: Readonly<Record<keyof ObservedReading, string>> = {
  tryAcquire: "MemoryLimiter.tryAcquire",
  lease: "Hive.tryAcquire and done",
};

/** The child program, next to the bundled main file. */
const child = fileURLToPath(new URL("./observed-child.js", import.meta.url));

/** Measures in a separate process, because code compiled with a listener stays different after the listener is gone. */
async function read(listener: Listener, ms: number): Promise<ObservedReading> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, listener, String(ms)]);
  return JSON.parse(stdout) as ObservedReading;
}

export const observed: FreeSuite = {
  kind: "free",
  name: "observed",
  title:
    "The cost of diagnostics: with channels without subscribers, and with OpenTelemetry's metrics, compared with a process in which the packages find no channels.",
  async measure({ rounds, quick, seed }) {
    const readings: Record<Listener, ObservedReading[]> = { "no channels": [], nobody: [], OpenTelemetry: [] };
    const random = seededRandom(seed);
    for (let round = 0; round < rounds; round++)
      for (const listener of shuffled(LISTENERS, random))
        readings[listener].push(await read(listener, quick ? 50 : 300));
    const rowsOf = (call: keyof ObservedReading): Row[] => {
      const times = (listener: Listener) => readings[listener].map((reading) => reading[call]);
      const none = times("no channels");
      const against = `${CALLS[call]}, no channels`;
      const row = (listener: Listener): Row => ({
        what: `${CALLS[call]}, ${listener} ${listener === "nobody" ? "listening" : "metrics"}`,
        value: median(times(listener)),
        unit: "ns",
        against,
        ratio: ratiosOf(times(listener), none),
      });
      return [
        { what: against, value: median(none), unit: "ns" },
        { ...row("nobody"), wanted: { of: "ratio", direction: "at most", limit: 1.05 } },
        row("OpenTelemetry"),
        {
          what: `${CALLS[call]}, added by OpenTelemetry metrics`,
          value: median(times("OpenTelemetry").map((time, round) => time - (none[round] as number))),
          unit: "ns",
          wanted: { of: "value", direction: "at most", limit: WANTED_NS },
        },
      ];
    };
    return [...rowsOf("tryAcquire"), ...rowsOf("lease")];
  },
};
