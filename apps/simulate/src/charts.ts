import { type Scheme, type SwarmReport, simulateEngine } from "@hivepace/distributed/testing";
import { movingChart } from "./moving-chart.ts";

const MINUTE = 60_000;
const WIDTH = 720;
const HEIGHT = 240;
const LEFT = 48;
const RIGHT = 24;
const TOP = 40;
const BOTTOM = 28;

interface Line {
  readonly name: string;
  readonly color: string;
  /** One value per second. */
  readonly values: readonly number[];
}

/** Returns the charts of the documentation as SVG, by name. */
export function charts(): Record<string, string> {
  return {
    "one-cut": oneCut(),
    "use-beside-others": useBesideOthers(),
    "cut-and-recovery": cutAndRecovery(),
    outage: outage(),
  };
}

/** The moving picture of the README: a provider that counts refused calls, as OpenAI does, cuts its limit for a minute. */
function oneCut(): string {
  const [cutAt, cutFor, limit] = [2 * MINUTE, MINUTE, 1_000];
  const run = (scheme: Scheme): SwarmReport =>
    simulateEngine({
      seed: 1,
      scheme,
      agents: 20,
      limits: { requests: limit },
      demand: { load: 1.5, patienceMs: 30_000 },
      provider: { countsRefused: true },
      faults: [{ at: cutAt, type: "provider", factor: 0.6, forMs: cutFor }],
      duration: 6 * MINUTE,
    });
  const lane = (name: string, { seconds, refusedSeconds }: SwarmReport) => ({
    name,
    accepted: lastMinute(seconds),
    refused: refusedSeconds,
  });
  const second = cutAt / 1_000;
  return movingChart({
    title: "20 agents, one account, 1,000 calls a minute: what the provider accepts",
    lanes: [
      lane("Hivepace", run("hive")),
      lane("equal split: each agent has a twentieth of the limit", run("equal-split")),
    ],
    allowed: Array.from({ length: 360 }, (_, i) => (i >= second && i < second + cutFor / 1_000 ? 0.6 : 1)),
    limitPerSecond: limit / 60,
    events: [{ second: second + 30, text: "the provider cuts the limit to 60 % for a minute" }],
  });
}

function useBesideOthers(): string {
  const run = (scheme: Scheme): SwarmReport =>
    simulateEngine({
      seed: 1,
      scheme,
      agents: 50,
      limits: { requests: 1_000 },
      demand: { load: 3, patienceMs: 30_000 },
      duration: 8 * MINUTE,
    });
  return chart("Accepted in the last minute: 50 agents, demand 3 × the limit", [
    { name: "Hivepace", color: "#2f7d4f", values: lastMinute(run("hive").seconds) },
    { name: "equal split", color: "#b7791f", values: lastMinute(run("equal-split").seconds) },
    { name: "gossiped use", color: "#6b7fd7", values: lastMinute(run("gossip").seconds) },
    { name: "whole limit each", color: "#c0392b", values: lastMinute(run("naive").seconds) },
  ]);
}

function cutAndRecovery(): string {
  const report = simulateEngine({
    seed: 1,
    agents: 20,
    limits: { requests: 6_000 },
    demand: { load: 3, maxQueue: 500 },
    faults: [{ at: 3 * MINUTE, type: "provider", factor: 0.6, forMs: 2 * MINUTE }],
    duration: 14 * MINUTE,
  });
  return chart("Accepted in the last minute: the provider allows 60 % from minute 3 to 5", [
    { name: "accepted", color: "#2f7d4f", values: lastMinute(report.seconds) },
  ]);
}

function outage(): string {
  const run = (isolation: "safe" | "balanced" | "available") =>
    lastMinute(
      simulateEngine({
        seed: 1,
        agents: 20,
        limits: { requests: 1_000 },
        demand: { load: 3 },
        isolation,
        faults: [{ at: 3 * MINUTE, type: "bus-down", forMs: 5 * MINUTE }],
        duration: 11 * MINUTE,
      }).seconds,
    );
  return chart("Accepted in the last minute: the bus is away from minute 3 to 8", [
    { name: "available", color: "#2f7d4f", values: run("available") },
    { name: "balanced (default)", color: "#b7791f", values: run("balanced") },
    { name: "safe", color: "#c0392b", values: run("safe") },
  ]);
}

/** Returns the count of a provider with a window of a minute, at each second. */
function lastMinute(seconds: readonly number[]): number[] {
  let sum = 0;
  return seconds.map((value, i) => {
    sum += value - (seconds[i - 60] ?? 0);
    return sum / 60;
  });
}

/** A line chart on a white card, readable on light and dark pages. */
function chart(title: string, lines: readonly Line[]): string {
  const seconds = Math.max(...lines.map(({ values }) => values.length));
  const most = Math.max(1.2, ...lines.flatMap(({ values }) => values.map((value) => Math.min(value, 2))));
  const x = (second: number) => LEFT + ((WIDTH - LEFT - RIGHT) * second) / seconds;
  const y = (value: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.min(value, most)) / most;
  const minutes = Array.from({ length: Math.floor(seconds / 60) + 1 }, (_, minute) => minute);
  const text = (at: string, words: string, more = "") => `<text ${at} ${more}>${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + 24}" role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="11" fill="#333">
<rect width="${WIDTH}" height="${HEIGHT + 24}" rx="8" fill="#fff"/>
${text(`x="${LEFT}" y="22"`, title, 'font-size="13" font-weight="600"')}
${[0, 0.5, 1].map((value) => `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="${value === 1 ? "#888" : "#ddd"}"${value === 1 ? ' stroke-dasharray="4 3"' : ""}/>${text(`x="${LEFT - 8}" y="${y(value) + 4}"`, value === 1 ? "limit" : `${value * 100} %`, 'text-anchor="end"')}`).join("\n")}
${minutes.map((minute) => text(`x="${x(minute * 60)}" y="${HEIGHT - 10}"`, `${minute} min`, 'text-anchor="middle" fill="#777"')).join("\n")}
${lines.map(({ color, values }) => `<polyline fill="none" stroke="${color}" stroke-width="2" points="${values.map((value, second) => `${x(second).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}"/>`).join("\n")}
${lines.map(({ name, color }, i) => `<rect x="${LEFT + i * 170}" y="${HEIGHT + 4}" width="10" height="10" fill="${color}"/>${text(`x="${LEFT + i * 170 + 15}" y="${HEIGHT + 13}"`, name)}`).join("\n")}
</svg>
`;
}
