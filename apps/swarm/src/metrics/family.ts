/** A metric of one agent in Prometheus' text format. Plain data: it travels from a thread or a process. */
export interface Family {
  readonly name: string;
  /** What it is: the lines that stand once, whoever has it. */
  readonly head: string;
  /** A line for each value. */
  readonly samples: string;
}

/** One text of what all have: a metric's lines have to stand together, below one head. */
export function textOf(agents: readonly (readonly Family[])[]): string {
  const texts = new Map<string, string>();
  for (const { name, head, samples } of agents.flat()) texts.set(name, (texts.get(name) ?? head) + samples);
  return [...texts.values()].join("");
}
