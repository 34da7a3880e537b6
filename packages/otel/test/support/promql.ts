import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** What a query in PromQL asks for. */
export interface Asked {
  /** As names or patterns of names. */
  readonly metrics: readonly RegExp[];
  /** In matchers and in `by (…)`. */
  readonly labels: readonly string[];
}

/** Throws where a query is not PromQL. Grafana's variables are filled in. */
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
