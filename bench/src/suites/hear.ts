import { hearing } from "../../../packages/distributed/test/support/flat-costs.ts";
import { grown } from "../grown.ts";
import type { FreeSuite } from "../suite.ts";

const ENDPOINTS = [10, 100, 1_000];
/** Largest ratio of the times with the most and the fewest endpoints. */
const MOST_RATIO = 3;

/** One message of another agent on five endpoints, decoded and counted by a hive with more and more endpoints. */
export const hear: FreeSuite = {
  kind: "free",
  name: "hear",
  title: "A message of another agent on five endpoints, heard by a hive with that many.",
  async measure(parameters) {
    const rows = await grown(
      ENDPOINTS,
      hearing,
      100,
      parameters,
      (endpoints) => `a message heard, ${endpoints} endpoints`,
    );
    const wanted = { of: "ratio", direction: "at most", limit: MOST_RATIO } as const;
    return rows.map((row, i) => (i === rows.length - 1 ? { ...row, wanted } : row));
  },
};
