/** The ways of sharing one limit that the demo runs side by side, in the order of the table. */
export const pacings = ["hive", "split", "alone", "sdk", "bucket"] as const;
export type Pacing = (typeof pacings)[number];

interface Row {
  /** At most 18 characters: the table has to fit into 80 columns. */
  readonly title: string;
  readonly about: string;
}

export const rows: Readonly<Record<Pacing, Row>> = {
  hive: { title: "Hivepace", about: "one limit for all agents, shared over the bus" },
  split: { title: "equal split", about: "each agent has a local limiter with its equal part of the limit" },
  alone: { title: "each for itself", about: "each agent has a local limiter with the whole limit" },
  sdk: {
    title: "plain SDK retries",
    about: "no limiter; a refused call is sent again twice, after the time that the provider names",
  },
  bucket: {
    title: "Redis token bucket*",
    about: "one central bucket, asked before each call",
  },
};

/** The rows beside Hivepace, which have limiters of their own and the retries of an SDK. */
export const peers: readonly Pacing[] = pacings.filter((pacing) => pacing !== "hive");

/** The modelled round-trip time of one Redis command. */
export const CENTRAL_ROUND_TRIP_MS = 10;

/** The note that the star in the table refers to. */
export const BUCKET_NOTE = `* Modelled in memory: each request to the bucket takes ${CENTRAL_ROUND_TRIP_MS} ms, and none fails.`;
