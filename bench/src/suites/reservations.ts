import { WORKLOADS } from "../../../packages/fetch/test/support/reservation-workloads.ts";
import { reservationsOf, type Workload } from "../../../packages/fetch/test/support/reservation-world.ts";
import type { Row } from "../row.ts";
import type { FreeSuite } from "../suite.ts";

/** The usual estimate of a limiter: all bytes of the prompt and all of `max_tokens`. */
function withoutLearning(workload: Workload): Workload {
  const estimate = ({
    inputBytes,
    maxOutputTokens = 0,
  }: {
    inputBytes: number;
    maxOutputTokens?: number | undefined;
  }) => {
    const inputTokens = Math.ceil(inputBytes / 3.5);
    return { tokens: inputTokens + maxOutputTokens, inputTokens, outputTokens: maxOutputTokens };
  };
  return { ...workload, options: { ...workload.options, estimate } };
}

/**
 * The utilization of a token limit by 60 workers in virtual time, with learned reservations and with the usual ones.
 */
export const reservations: FreeSuite = {
  kind: "free",
  name: "reservations",
  title: "How much of a token limit is used where reservations and actual usage differ (virtual time, 60 workers).",
  async measure({ quick }) {
    const size = quick ? { scale: 0.25, minutes: 2 } : { scale: 1, minutes: 4 };
    const rows: Row[] = [];
    for (const { name, of } of WORKLOADS) {
      const learned = await reservationsOf(of(size));
      const usual = await reservationsOf(withoutLearning(of(size)));
      rows.push(
        {
          what: `${name}: used`,
          value: learned.utilization,
          unit: "of the limit",
          wanted: { of: "value", direction: "at least", limit: 0.9 },
          note: `${usual.utilization.toFixed(2)} when the whole prompt and max_tokens are reserved`,
        },
        {
          what: `${name}: fullest minute`,
          value: learned.overshoot,
          unit: "of the limit",
          wanted: { of: "value", direction: "at most", limit: 1.05 },
        },
      );
    }
    return rows;
  },
};
