import { readFileSync } from "node:fs";
import { MemoryLimiter } from "@hivepace/core";
import { createLimitedFetch } from "@hivepace/fetch";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { eventMetrics, statusMetrics } from "../src/catalogue.ts";
import { instrumentHivepace } from "../src/index.ts";
import { readQuery } from "./support/promql.ts";
import { TestMetrics } from "./support/telemetry.ts";
import { TestWorld } from "./support/world.ts";

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
const dashboard = JSON.parse(read("grafana/hivepace.json")) as Dashboard;
const [group] = (parse(read("alerts/hivepace.rules.yml")) as { groups: { rules: Rule[] }[] }).groups;
const rules = group?.rules ?? [];
const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...dashboard.annotations.list.map(({ expr }) => ["annotation", expr] as const),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
];

/** The labels of each metric by its name in Prometheus. */
let written: Map<string, Set<string>>;

beforeAll(async () => {
  const metrics = new TestMetrics();
  const world = new TestWorld();
  const { observe, stop } = instrumentHivepace({ meterProvider: metrics.provider, traces: false });
  await happen(world, observe);
  const text = new PrometheusSerializer().serialize(await metrics.raw());
  stop();
  await world.close();
  await metrics.close();
  written = new Map();
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const known = written.get(name) ?? new Set(["job", "instance"]);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    written.set(name, known);
  }
});

/** Causes events for all metrics. */
async function happen(world: TestWorld, observe: ReturnType<typeof instrumentHivepace>["observe"]): Promise<void> {
  const { clock, broker } = world;
  const endpoints = [{ id: "eu", model: "gpt", rpmLimit: 10, tpmLimit: 1_000 }];
  const store = world.store();
  const a = await world.hive("a", { endpoints, sync: store });
  const b = await world.hive("b", { endpoints: [{ id: "other", rpmLimit: 5 }] });
  for (const hive of [a, b]) observe(hive);
  await clock.run(5_000);
  a.park("eu", { reason: "maintenance", forMs: 1_000 });
  await clock.run(2_000);
  const send = async (): Promise<Response> => new Response("{}", { status: 429 });
  const limited = createLimitedFetch(a, { endpoint: "eu", clock, fetch: send as typeof fetch, maxRetries: 1 });
  const call = limited("https://api.openai.com/v1/chat/completions", { method: "POST", body: '{"model":"gpt"}' });
  const limiter = new MemoryLimiter({ clock });
  limiter.setCapacity("api", 1, 1_000);
  limiter.tryAcquire("api");
  const waits = [limiter.acquire("api"), limiter.acquire("api", { timeoutMs: 10 }).catch(() => {})];
  limiter.tryAcquire("api");
  await clock.run(70_000);
  await Promise.all([call, ...waits]);
  broker.stop();
  await store.close();
  await clock.run(5_000);
  broker.start();
  await clock.run(5_000);
  await limiter.close();
}

/** The name as collectors and Prometheus itself translate it, with the unit. */
function withUnit(name: string): string {
  const base = name.replace(/_(bucket|count|sum|total)$/, "");
  const listed = [...Object.values(eventMetrics), ...Object.values(statusMetrics)].find(
    (metric) => metric.name.replaceAll(".", "_") === base,
  );
  const suffix = listed?.unit === "s" ? "_seconds" : listed?.unit === "1" ? "_ratio" : "";
  return name.replace(base, base + suffix);
}

test("the exporter writes every metric of the catalogue", () => {
  const expected = [
    ...Object.values(eventMetrics).map(({ name, kind }) => `${name}.${kind === "counter" ? "total" : "bucket"}`),
    ...Object.values(statusMetrics).map(({ name }) => name),
  ].map((name) => name.replaceAll(".", "_"));
  expect([...written.keys()]).toEqual(expect.arrayContaining(expected));
});

test.each(queries)("%s queries existing metrics and labels, with and without units in the names: %s", (_, query) => {
  const { metrics, labels } = readQuery(query);
  expect(metrics.length).toBeGreaterThan(0);
  const found = new Set(["le"]);
  for (const metric of metrics) {
    const names = [...written.keys()].filter((name) => metric.test(name));
    expect([metric, names.length]).toEqual([metric, 1]);
    expect([metric, metric.test(withUnit(String(names[0])))]).toEqual([metric, true]);
    for (const label of written.get(String(names[0])) ?? []) found.add(label);
  }
  expect(labels.filter((label) => !found.has(label))).toEqual([]);
});

describe("the dashboard", () => {
  test("shows every metric", () => {
    const asked = queries.flatMap(([, query]) => readQuery(query).metrics);
    const shown = (name: string) => asked.some((metric) => metric.test(name));
    const bases = [...written.keys()].filter(
      (name) => name.startsWith("hivepace_") && !/_(sum|bucket|count)$/.test(name),
    );
    const histograms = Object.values(eventMetrics)
      .filter(({ kind }) => kind === "histogram")
      .map(({ name }) => name.replaceAll(".", "_"));
    expect(bases.filter((name) => !shown(name))).toEqual([]);
    expect(histograms.filter((name) => !shown(`${name}_bucket`) && !shown(`${name}_count`))).toEqual([]);
  });

  test("uses in legends only labels that its queries keep", () => {
    for (const { targets = [] } of dashboard.panels)
      for (const { expr, legendFormat } of targets) {
        const kept = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", "));
        for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(kept).toContain(label);
      }
  });

  test("has panels with distinct ids that do not overlap", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  test("selects jobs and resources by an existing metric", () => {
    for (const { query } of dashboard.templating.list) {
      const text = typeof query === "string" ? query : query.query;
      const [, name] = /label_values\((\w+)/.exec(text) ?? [];
      if (name !== undefined) expect([...written.keys()]).toContain(name);
    }
  });
});

test("each alert has a unique name, a summary and a description", () => {
  expect(rules.length).toBeGreaterThan(10);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations, for: patience, expr } of rules) {
    expect(alert).toMatch(/^Hivepace[A-Z]\w+$/);
    expect(["info", "warning", "critical"]).toContain(labels.severity);
    expect(annotations.summary).not.toBe("");
    expect(annotations.description).toMatch(/\.$/);
    expect(patience).toMatch(/^\d+m$/);
    const kept = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", "));
    for (const [, label = ""] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) expect(kept).toContain(label);
  }
});

afterAll(() => written.clear());
