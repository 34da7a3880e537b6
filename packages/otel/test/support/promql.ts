import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** The metrics and labels that a PromQL query uses. */
export interface Asked {
  /** Names, or patterns of names. */
  readonly metrics: readonly RegExp[];
  /** Labels in matchers and in `by (…)`. */
  readonly labels: readonly string[];
}

/** Parses a query after filling in Grafana's variables. Throws when the query is not PromQL. */
export function readQuery(query: string): Asked {
  const text = query.replace(/\$__(rate_interval|interval)/g, "5m").replace(/\$\w+/g, ".*");
  const metrics: RegExp[] = [];
  const labels: string[] = [];
  const of = ({ from, to }: SyntaxNode): string => text.slice(from, to);
  parser.parse(text).iterate({
    enter({ node }) {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${text}`);
      if (node.name === "VectorSelector") {
        const name = node.getChild("Identifier");
        if (name) metrics.push(new RegExp(`^${of(name)}$`));
      }
      if (node.name === "LabelName") {
        const label = of(node);
        if (label !== "__name__") labels.push(label);
        else metrics.push(new RegExp(`^${(/"(.*)"/.exec(of(node.parent as SyntaxNode)) as RegExpExecArray)[1]}$`));
      }
    },
  });
  return { metrics, labels };
}
