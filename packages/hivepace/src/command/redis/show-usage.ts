import { clean } from "../text/clean.ts";
import { showDuration } from "../text/duration.ts";
import { amount } from "../text/numbers.ts";
import { table } from "../text/table.ts";
import { nameOf } from "./endpoints.ts";
import type { Usage, UsageReading } from "./usage.ts";

/** Renders the counts of all instances as a table. */
export function showUsage({ endpoints, windowMs, elapsedMs }: UsageReading): string {
  const window = `counts in Redis of the present window of ${showDuration(windowMs)}, which began ${showDuration(elapsedMs)} ago`;
  const rows = table<Usage>(
    [
      { title: "ENDPOINT", of: (usage) => clean(nameOf(usage)) },
      { title: "REQUESTS", of: ({ requests, rpmLimit }) => ofLimit(requests, rpmLimit), isNumber: true },
      { title: "TOKENS", of: ({ tokens, tpmLimit }) => ofLimit(tokens, tpmLimit), isNumber: true },
      {
        title: "%",
        of: ({ utilization }) => (utilization === undefined ? "" : `${Math.round(utilization * 100)} %`),
        isNumber: true,
      },
      { title: "INSTANCES", of: ({ agents }) => amount(agents), isNumber: true },
      { title: "", of: ({ error }) => (error === undefined ? "" : clean(error)) },
    ],
    endpoints,
  );
  return `${window}\n\n${rows}\n`;
}

function ofLimit(used: number, limit: number | undefined): string {
  return limit === undefined ? amount(used) : `${amount(used)} of ${amount(limit)}`;
}
