import { percent } from "../model/format.ts";
import { type OverviewRow, overviewOf, sparkOf } from "../model/overview.ts";
import { card, h, setAttribute, setChildren, setText, setVariable } from "./dom.ts";
import { longName } from "./long-name.ts";
import { sparkline } from "./spark.ts";
import type { Choose, Scene, View } from "./view.ts";

const FEW = { endpoint: 12, key: 6 } as const;
const TONES = { paused: "bad", queueing: "warn", reduced: "warn", full: "warn", fine: "good" } as const;

interface Drawn {
  readonly item: HTMLElement;
  draw(row: OverviewRow, scene: Scene): void;
}

/** All endpoints and the tenant keys in use, the worst first; the selected one determines the rest of the page. */
export function overview(choose: Choose): View {
  const about = h("p", { class: "source" }, "From what agents say on the bus, the worst first.");
  const endpoints = rowList("Endpoints, the worst first", FEW.endpoint, choose);
  const keys = rowList("Tenant keys, the worst first", FEW.key, choose);
  const keysTitle = h("h3", {}, "Tenant keys");
  const rest = h("p", { class: "quiet-text" });
  const element = card("overview", "Endpoints", about, ...endpoints.elements, keysTitle, ...keys.elements, rest);
  return {
    element,
    draw(scene) {
      const { frame } = scene.state;
      element.hidden = frame.resources.length + frame.keys.length === 0;
      endpoints.draw(frame.resources, scene);
      keys.draw(frame.keys, scene);
      keysTitle.hidden = frame.keys.length === 0;
      const more = frame.keyCount - frame.keys.length;
      rest.hidden = more <= 0;
      setText(rest, `${more} more keys are in use, with less trouble than these.`);
    },
  };
}

function rowList(label: string, few: number, choose: Choose) {
  const list = h("ul", { class: "overview", "aria-label": label });
  const all = h("button", { type: "button", class: "quiet", "aria-expanded": "false" });
  const drawn = new Map<string, Drawn>();
  let isAll = false;
  let last: (() => void) | undefined;
  all.addEventListener("click", () => {
    isAll = !isAll;
    last?.();
  });
  const draw = (resources: Parameters<typeof overviewOf>[0], scene: Scene): void => {
    last = () => draw(resources, scene);
    const rows = overviewOf(resources);
    const shown = isAll ? rows : rows.slice(0, few);
    const names = new Set(shown.map(({ name }) => name));
    for (const name of drawn.keys()) if (!names.has(name)) drawn.delete(name);
    const items = shown.map((row) => {
      const one = drawn.get(row.name) ?? emptyRow(row, choose);
      drawn.set(row.name, one);
      one.draw(row, scene);
      return one.item;
    });
    setChildren(list, items);
    [list.hidden, all.hidden] = [rows.length === 0, rows.length <= few];
    setText(all, isAll ? "Show fewer" : `Show all ${rows.length}`);
    setAttribute(all, "aria-expanded", String(isAll));
  };
  return { elements: [list, all], draw };
}

function emptyRow({ name: own, isKey }: OverviewRow, choose: Choose): Drawn {
  const [word, usage, part, available, level, waiting] = [
    h("span", { class: "pill overview-word" }),
    h("span", { class: "overview-usage" }),
    h("span", { class: "number" }),
    h("span", { class: "quiet-text" }),
    h("span", { class: "overview-level" }),
    h("span", { class: "overview-waiting" }),
  ];
  const bar = h("span", { class: "bar", "aria-hidden": "true" }, h("span"));
  const spark = sparkline();
  const button = h(
    "button",
    { type: "button", class: "overview-row" },
    h("span", { class: "overview-name" }, longName(own, "data strong")),
    word,
    h("span", { class: "overview-use" }, h("span", { class: "row" }, usage, part), bar),
    available,
    level,
    waiting,
    spark.element,
  );
  let shown: OverviewRow | undefined;
  button.addEventListener("click", () => {
    choose({ resource: own, isKey, limit: shown?.limit });
  });
  return {
    item: h("li", {}, button),
    draw(row, { state, resource, points }) {
      shown = row;
      const isChosen = resource?.resource === own && (resource.isKey ?? false) === isKey;
      setAttribute(button, "aria-pressed", isChosen ? "true" : "false");
      setAttribute(word, "data-tone", TONES[row.condition]);
      setText(word, row.word);
      setText(usage, row.usage);
      setText(part, row.percent);
      setText(available, row.available);
      setText(level, `level ${percent(row.level)}`);
      setAttribute(level, "data-tone", row.level < 1 ? "warn" : undefined);
      setText(waiting, row.waiting);
      setAttribute(waiting, "data-strong", row.condition === "queueing");
      setVariable(bar, "--part", String(Math.min(1, row.part ?? 0)));
      setAttribute(bar, "data-tone", row.part !== undefined && row.part > 1 ? "bad" : undefined);
      const isTracked = state.points.at(-1)?.resources.some((one) => one.resource === own) ?? false;
      spark.element.classList.toggle("is-unknown", isKey || !isTracked);
      if (!isKey && isTracked) spark.draw(sparkOf(points, own, row.limit));
    },
  };
}
