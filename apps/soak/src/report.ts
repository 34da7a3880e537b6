import type { Trend } from "./judge.ts";

/**
 * A table of the trends, with one line per kind of resource: for the process in which it grew most, or else the one
 * with the largest count.
 */
export function trendsTable(trends: readonly Trend[], agents: readonly string[]): string {
  const kinds = new Map<string, Trend[]>();
  for (const trend of trends) {
    const kind = kindOf(trend.name, agents);
    kinds.set(kind, [...(kinds.get(kind) ?? []), trend]);
  }
  const lines = [...kinds].map(([kind, list]) => line(kind, list));
  return ["| held | of | by round | least of each third | allowed | |", "|---|---|---|---|---|---|", ...lines].join(
    "\n",
  );
}

function line(kind: string, list: readonly Trend[]): string {
  const growth = ({ least: [first, , last] }: Trend) => last - first;
  const [worst] = [...list].sort((a, b) => Number(b.grows) - Number(a.grows) || growth(b) - growth(a));
  const { name, values, least, allowed, grows } = worst as Trend;
  const show = kind.startsWith("memory") ? (value: number) => (value / 1e6).toFixed(2) : String;
  const whose = name === kind ? "broker" : `${name.slice(0, -kind.length - 1)} of ${list.length}`;
  const cells = [
    kind.startsWith("memory") ? `${kind}, MB` : kind,
    whose,
    values.map(show).join(" "),
    least.map(show).join(" → "),
    show(allowed),
    grows ? "GROWS" : "",
  ];
  return `| ${cells.join(" | ")} |`;
}

function kindOf(name: string, agents: readonly string[]): string {
  const agent = agents.find((id) => name.startsWith(`${id} `));
  return agent === undefined ? name : name.slice(agent.length + 1);
}
