import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { movingChart } from "./moving-chart.ts";

const SECONDS = 120;
const zeros = new Array<number>(SECONDS).fill(0);
const refused = zeros.map((_, second) => (second >= 60 && second < 70 ? 120 : 0));
const svg = movingChart({
  title: "A cut",
  lanes: [
    { name: "one", accepted: zeros, refused: zeros },
    { name: "other", accepted: zeros.map(() => 0.5), refused },
  ],
  allowed: zeros.map(() => 1),
  limitPerSecond: 10,
  events: [{ second: 60, text: "the cut" }],
});
const shown = (style: string) =>
  [...svg.matchAll(new RegExp(`class="bad ${style}"[^>]*>([^<]*)<`, "g"))].map(([, text]) => text);

test("the counter of each lane ends at its total, and never falls", () => {
  expect(shown("total")).toEqual(["0 calls refused (429)", "1,200 calls refused (429)"]);
  const steps = shown("count").map((text) => Number.parseInt(String(text).replace(",", ""), 10));
  const other = steps.slice(steps.length / 2);
  expect(steps.slice(0, steps.length / 2)).toEqual(other.map(() => 0));
  expect(other).toEqual([...other].sort((a, b) => a - b));
  expect([other[0], other.at(-1)]).toEqual([0, 1_200]);
});

test("the chart needs no script, and stands still for readers who prefer less motion", () => {
  expect(svg).not.toContain("<script");
  const [still = "", moving = ""] = svg.split("@media (prefers-reduced-motion: no-preference)");
  expect(still).not.toContain("animation");
  expect(still).toMatch(/\.curtain, \.head \{ transform: translateX\(\d+px\) \}/);
  expect(moving).toContain("animation: draw");
});

test("bars are cut at the top of their lane", () => {
  const heights = [...svg.matchAll(/M[\d.]+ ([\d.]+)V([\d.]+)/g)].map(([, from, to]) => Number(from) - Number(to));
  expect(Math.max(...heights)).toBeLessThanOrEqual(300);
  expect(svg).toContain('aria-label="A cut. one: 0 calls refused, other: 1200 calls refused."');
});

test("the texts beside the moving picture of the README state its figures", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const [, drawn = ""] = /aria-label="([^"]*)"/.exec(read("docs/pictures/one-cut.svg")) ?? [];
  const [ours, others] = [...drawn.matchAll(/: (\d+) calls refused/g)].map(([, calls]) => calls);
  const told = `${ours} calls are refused with Hivepace, ${others} with an equal split]`;
  for (const page of ["README.md", "docs/README.md"]) expect(read(page)).toContain(told);
});
