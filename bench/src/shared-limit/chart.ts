import type { Outcome } from "../suites/shared-limit.ts";

const WIDTH = 760;
const ROW = 34;
const TOP = 74;
const NAMES = 210;
const BAR = 320;
const GREEN = "#2f7d4f";
const RED = "#c0392b";
const GREY = "#8a8f98";

/**
 * The results of all contenders: accepted and refused calls as bars, the rest as numbers. Drawn on a card, so that the
 * chart reads on light and dark pages.
 */
export function sharedLimitChart(outcomes: readonly Outcome[]): string {
  const height = TOP + outcomes.length * ROW + 34;
  const sentOf = ({ use, refused }: Outcome): number => use / (1 - refused);
  const most = Math.max(1.05, ...outcomes.map(sentOf));
  const x = (part: number): number => NAMES + (BAR * part) / most;
  const rows = outcomes.map((outcome, i) => {
    const { contender, use, refused, fairness, p99 } = outcome;
    const y = TOP + i * ROW;
    const isOurs = contender.startsWith("Hivepace");
    const sent = sentOf(outcome);
    const label = (at: number, words: string, more = "") => `<text x="${at}" y="${y + 15}" ${more}>${words}</text>`;
    return [
      label(NAMES - 10, contender, `text-anchor="end"${isOurs ? ' font-weight="700"' : ""}`),
      bar(NAMES, y, x(use) - NAMES, isOurs ? GREEN : GREY),
      bar(x(use), y, x(sent) - x(use), RED),
      label(NAMES + BAR + 60, `${(refused * 100).toFixed(refused < 0.01 ? 1 : 0)} %`, 'text-anchor="end"'),
      label(NAMES + BAR + 120, fairness.toFixed(2), 'text-anchor="end"'),
      label(NAMES + BAR + 205, `${p99 < 10 ? p99.toFixed(1) : Math.round(p99)} ms`, 'text-anchor="end"'),
    ].join("");
  });
  const head = (at: number, words: string) =>
    `<text x="${at}" y="${TOP - 14}" text-anchor="end" fill="#666">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Six processes on one limit: calls accepted and refused, by how the limit is shared" font-family="system-ui, sans-serif" font-size="12" fill="#333">
<rect width="${WIDTH}" height="${height}" rx="8" fill="#fff"/>
<text x="16" y="26" font-size="14" font-weight="600">Six processes, one limit, 1.5 × as much demand</text>
<text x="16" y="44" fill="#666">calls that reached the provider: accepted, and refused with 429 (red); the wait is that at 30 % load</text>
${head(NAMES + BAR + 60, "429s")}${head(NAMES + BAR + 120, "fairness")}${head(NAMES + BAR + 205, "p99 wait")}
<line x1="${x(1)}" x2="${x(1)}" y1="${TOP - 8}" y2="${TOP + outcomes.length * ROW}" stroke="#333" stroke-dasharray="4 3"/>
<text x="${x(1)}" y="${TOP + outcomes.length * ROW + 16}" text-anchor="middle">the limit</text>
${rows.join("\n")}
</svg>
`;
}

function bar(x: number, y: number, width: number, color: string): string {
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, width).toFixed(1)}" height="22" fill="${color}"/>`;
}
