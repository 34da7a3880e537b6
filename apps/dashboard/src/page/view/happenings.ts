import { type Entry, entriesOf, type Piece } from "../model/events.ts";
import { clockTime } from "../model/format.ts";
import { card, h, name, setText } from "./dom.ts";
import type { Scene, View } from "./view.ts";

const FEW = 12;

/** The event log: cuts and recoveries with their agent and reason, membership changes, and outcomes of buttons. */
export function happenings(): View {
  const list = h("ol", { class: "entries", reversed: true });
  const empty = h("p", { class: "quiet-text" }, "No events since the dashboard started.");
  const all = h("button", { type: "button", class: "quiet", "aria-expanded": "false" });
  const scroller = h("div", { class: "scroller entries-scroller", tabindex: 0, role: "region" }, list);
  scroller.setAttribute("aria-label", "What happened, newest first");
  const element = card("happenings", "What happened", empty, scroller, all);
  let isAll = false;
  let shown = "";
  let scene: Scene | undefined;

  const draw = (now: Scene): void => {
    scene = now;
    const { events } = now.state;
    const key = `${events.at(-1)?.seq} ${events.length} ${isAll}`;
    if (key === shown) return;
    shown = key;
    const entries = entriesOf(events);
    empty.hidden = entries.length > 0;
    scroller.hidden = entries.length === 0;
    list.replaceChildren(...(isAll ? entries : entries.slice(0, FEW)).map(itemOf));
    all.hidden = entries.length <= FEW;
    setText(all, isAll ? "Show fewer" : `Show all ${entries.length}`);
    all.setAttribute("aria-expanded", String(isAll));
  };
  all.addEventListener("click", () => {
    isAll = !isAll;
    if (scene !== undefined) draw(scene);
  });
  return { element, draw };
}

const itemOf = ({ at, tone, label, pieces }: Entry): HTMLElement =>
  h(
    "li",
    { "data-tone": tone },
    h("time", { datetime: new Date(at).toISOString() }, clockTime(at)),
    h("span", { class: "tag" }, label),
    h("span", { class: "entry-text" }, ...pieces.map(piece)),
  );

const piece = (one: Piece): Node | string => (typeof one === "string" ? one : name(one.data));
