import { type Cell, isHeldLong } from "../model/cells.ts";
import { amount, duration, limitText, NOTHING, plural, unitOf } from "../model/format.ts";
import { type SortKey, sortedBy, type TableChoice, tablePage } from "../model/table.ts";
import { card, h, setAttribute, setText } from "./dom.ts";
import { longName } from "./long-name.ts";
import type { Scene, View } from "./view.ts";

const COLUMNS: readonly { key: SortKey; label: string; show(cell: Cell): string }[] = [
  { key: "agentId", label: "Agent", show: ({ agentId }) => agentId },
  { key: "used", label: "Used", show: ({ used }) => amount(used) },
  { key: "share", label: "Share", show: ({ share }) => limitText(share) },
  { key: "waiting", label: "Queue", show: ({ waiting }) => amount(waiting) },
  { key: "waitMs", label: "Wait", show: ({ waitMs }) => (waitMs > 0 ? `≈ ${duration(waitMs)}` : NOTHING) },
  { key: "queuedMs", label: "Queue for", show: ({ queuedMs }) => (queuedMs > 0 ? duration(queuedMs) : NOTHING) },
  { key: "lastMessageAgoMs", label: "Heard", show: ({ lastMessageAgoMs }) => `${duration(lastMessageAgoMs)} ago` },
  { key: "upMs", label: "Up for", show: ({ upMs }) => duration(upMs) },
];

/** Usage, share and queue of each agent: a table with sorting, search and pages, for any number of agents. */
export function agentsTable(): View {
  const search = h("input", { type: "search", id: "agent-search", autocomplete: "off", spellcheck: "false" });
  const found = h("p", { class: "quiet-text", role: "status" });
  const heads = COLUMNS.map(({ label }) => h("th", { scope: "col" }, h("button", { type: "button" }, label)));
  const caption = h("caption");
  const body = h("tbody");
  const table = h("table", { class: "agents" }, caption, h("thead", {}, h("tr", {}, ...heads)), body);
  const scroller = h(
    "div",
    { class: "scroller", tabindex: 0, role: "region", "aria-label": "Agents, as a table" },
    table,
  );
  const [before, after] = [
    h("button", { type: "button", class: "quiet" }, "Previous"),
    h("button", { type: "button", class: "quiet" }, "Next"),
  ];
  const where = h("span", { class: "quiet-text" });
  const pager = h("nav", { class: "pager", "aria-label": "Pages of agents" }, before, where, after);
  const tools = h("div", { class: "table-tools" }, h("label", { for: "agent-search" }, "Find"), search, found);
  const element = card("agents", "Used, share and queue by agent", tools, scroller, pager);

  let choice: TableChoice = { filter: "", sort: "waiting", isDescending: true, page: 0 };
  let scene: Scene | undefined;
  const change = (to: TableChoice): void => {
    choice = to;
    if (scene !== undefined) draw(scene);
  };
  const turn = (button: HTMLElement, pages: number) => () => {
    if (button.getAttribute("aria-disabled") !== "true") change({ ...choice, page: choice.page + pages });
  };
  search.addEventListener("input", () => change({ ...choice, filter: search.value, page: 0 }));
  before.addEventListener("click", turn(before, -1));
  after.addEventListener("click", turn(after, 1));
  heads.forEach((head, i) => {
    head.addEventListener("click", () => change(sortedBy(choice, COLUMNS[i]?.key ?? "agentId")));
  });

  const draw = (now: Scene): void => {
    scene = now;
    const { cells, resource, limit } = now;
    const { rows, page, pages, count } = tablePage(cells, choice);
    choice = { ...choice, page };
    setText(
      caption,
      `Used, share and queue in ${unitOf(resource?.limits[limit] ?? {})}. Wait: about how long, at its present pace.`,
    );
    heads.forEach((head, i) => {
      const isSorted = COLUMNS[i]?.key === choice.sort;
      setAttribute(head, "aria-sort", isSorted ? (choice.isDescending ? "descending" : "ascending") : undefined);
    });
    while (body.children.length < rows.length) body.append(emptyRow());
    while (body.children.length > rows.length) body.lastElementChild?.remove();
    rows.forEach((cell, i) => {
      drawRow(body.children[i] as HTMLElement, cell, now);
    });
    setText(
      found,
      choice.filter === "" ? plural(cells.length, "agent") : `${amount(count)} of ${plural(cells.length, "agent")}`,
    );
    pager.hidden = pages === 1;
    setText(where, `Page ${page + 1} of ${pages}`);
    setAttribute(before, "aria-disabled", page === 0 ? "true" : undefined);
    setAttribute(after, "aria-disabled", page === pages - 1 ? "true" : undefined);
  };
  return { element, draw };
}

const emptyRow = (): HTMLElement =>
  h(
    "tr",
    {},
    h("th", { scope: "row" }, h("span", { class: "agent-name" }), h("span", { class: "note" })),
    ...COLUMNS.slice(1).map(() => h("td")),
  );

function drawRow(row: HTMLElement, cell: Cell, { choice }: Scene): void {
  setAttribute(row, "data-state", cell.state);
  setAttribute(row, "data-chosen", choice.agentId === cell.agentId);
  const head = row.firstElementChild as HTMLElement;
  const place = head.firstElementChild as HTMLElement;
  if (place.textContent !== cell.agentId) place.replaceChildren(longName(cell.agentId));
  setText(head.lastElementChild as Element, note(cell));
  COLUMNS.slice(1).forEach(({ show, key }, i) => {
    const td = row.children[i + 1] as Element;
    setText(td, show(cell));
    setAttribute(td, "data-strong", (key === "waiting" || key === "waitMs") && cell.waiting > 0);
  });
}

const note = (cell: Cell): string => {
  const { state, hasCut, isAllocated, weight, heldMs } = cell;
  const notes = [
    state === "live" ? "" : state,
    hasCut ? "announced the cut" : "",
    isAllocated ? "served by the store" : "",
    isHeldLong(cell) ? `a call for ${duration(heldMs)}` : "",
    weight === 1 ? "" : `weight ${amount(weight)}`,
  ];
  return notes.filter(Boolean).join(", ");
};
