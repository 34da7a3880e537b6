import { amount } from "../model/format.ts";
import { h, setText } from "./dom.ts";
import type { Scene } from "./view.ts";

/** Replaces the hive while no agent is known, and names the likely reasons. */
export function emptyHive(): { readonly element: HTMLElement; draw(scene: Scene): void } {
  const why = h("p");
  const element = h("div", { class: "empty" }, h("p", { class: "empty-title" }, "Nobody heard yet"), why);
  return {
    element,
    draw({ state: { hello, frame } }) {
      const where = hello.namespace === "" ? "without a namespace" : `of namespace “${hello.namespace}”`;
      const reasons = {
        ready: `The bus is there, and no agent ${where} has spoken on it. Agents speak about once a second: is one running, on this bus and in this namespace?`,
        connecting: "The bus is not there yet: is the address right, and the broker running?",
        interrupted: "The bus is away. Agents are heard again when it is back.",
        closed: "The bus was closed: nothing more will be heard.",
      };
      const ignored = Object.values(frame.ignored).reduce((sum, count) => sum + count, 0);
      const hint = ` ${amount(ignored)} messages came that could not be understood: do the agents sign theirs?`;
      setText(why, reasons[frame.bus] + (ignored > 0 ? hint : ""));
    },
  };
}

/** Explains the colours. */
export function hiveLegend(): HTMLElement {
  const entry = (kind: string, text: string) =>
    h("li", {}, h("span", { class: `swatch swatch-${kind}`, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "legend" },
    entry("used", "used"),
    entry("share", "its share"),
    entry("waits", "something waits"),
    entry("cut", "announced the cut"),
    entry("silent", "silent"),
    entry("left", "left"),
  );
}
