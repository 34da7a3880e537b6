/** A scrape, parsed strictly according to Prometheus' text format. */
export interface Scraped {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^(\w+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]Inf|NaN)$/;
const LABEL = /(\w+)="((?:[^"\\\n]|\\["\\n])*)"/g;

/** Throws for a malformed, misplaced or duplicate line. */
export function readExposition(text: string): Scraped {
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const series = new Set<string>();
  const samples: Sample[] = [];
  let family = "";
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line does not end");
  for (const line of text.split("\n").slice(0, -1)) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === "HELP") {
      if (helped.has(name) || types.has(name) || !NAME.test(name))
        throw new Error(`duplicate or misplaced HELP: ${line}`);
      helped.add(name);
    } else if (word === "TYPE") {
      if (types.has(name) || !/^(counter|gauge|histogram)$/.test(rest))
        throw new Error(`duplicate or unknown TYPE:${line}`);
      types.set(name, rest);
      family = name;
    } else {
      const sample = readSample(line);
      const { name: own, labels } = sample;
      const base = types.get(family) === "histogram" ? own.replace(/_(bucket|sum|count)$/, "") : own;
      if (base !== family) throw new Error(`outside of its family ${family}: ${line}`);
      const key = JSON.stringify([own, Object.entries(labels).sort()]);
      if (series.has(key)) throw new Error(`a second time: ${line}`);
      series.add(key);
      samples.push(sample);
    }
  }
  for (const [name, type] of types) if (type === "histogram") checkHistogram(name, samples);
  return { types, samples };
}

function readSample(line: string): Sample {
  const [, name = "", pairs = "", value = ""] = SAMPLE.exec(line) ?? [];
  if (!NAME.test(name) || pairs.endsWith(",")) throw new Error(`not a sample: ${line}`);
  const found = [...pairs.matchAll(LABEL)].map(([, label = "", of = ""]) => [label, of] as const);
  const labels = Object.fromEntries(found);
  if (Object.keys(labels).length !== found.length) throw new Error(`duplicate label: ${line}`);
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

/** Cumulative buckets never decrease, and the last one equals the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const counts = samples.filter((sample) => sample.name === `${name}_count`);
  if (counts.length === 0) throw new Error(`${name} has no count`);
  for (const { labels, value: count } of counts) {
    const isOfIt = ({ le: _, ...rest }: Sample["labels"]) => JSON.stringify(rest) === JSON.stringify(labels);
    const buckets = samples.filter((sample) => sample.name === `${name}_bucket` && isOfIt(sample.labels));
    const values = buckets.map(({ value }) => value);
    const isRising = values.every((value, i) => i === 0 || value >= (values[i - 1] as number));
    if (!isRising || buckets.at(-1)?.labels["le"] !== "+Inf" || values.at(-1) !== count)
      throw new Error(`${name} does not add up: ${values.join(" ")} of ${count}`);
  }
}
