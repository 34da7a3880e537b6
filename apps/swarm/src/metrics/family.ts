/** A metric of one agent in Prometheus' text format. Plain data, because it is sent from a thread or a process. */
export interface Family {
  readonly name: string;
  /** The HELP and TYPE lines, which occur once however many agents have the metric. */
  readonly head: string;
  /** One line per value. */
  readonly samples: string;
}

/**
 * Merges the metrics of all agents into one text; the format requires the lines of a metric to be contiguous, below one
 * head.
 */
export function textOf(agents: readonly (readonly Family[])[]): string {
  const texts = new Map<string, string>();
  for (const { name, head, samples } of agents.flat()) texts.set(name, (texts.get(name) ?? head) + samples);
  return [...texts.values()].join("");
}
