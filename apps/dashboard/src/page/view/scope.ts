import type { ResourceFrame } from "../../wire.ts";
import { amount, limitText, rateOf, unitOf } from "../model/format.ts";
import { h, setAttribute, setText } from "./dom.ts";
import { longName, shortened } from "./long-name.ts";
import type { Choose, Scene, View } from "./view.ts";

/** Selects the endpoint and the limit that everything below shows. */
export function scope(choose: Choose): View {
  const select = h("select", { id: "resource" });
  const only = h("p", { class: "scope-name" });
  const label = h("label", { class: "scope-select" }, h("span", {}, "Endpoint"), select);
  const limits = h("div", { class: "segments", role: "group", "aria-label": "Limit" });
  const about = h("p", { class: "scope-about" });
  const element = h("div", { class: "scope" }, label, only, limits, about);
  select.addEventListener("change", () => {
    const [kind, ...name] = select.value.split(" ");
    choose({ resource: name.join(" "), isKey: kind === "key", limit: undefined });
  });
  let shownNames = "";
  let shownUnits = "";

  const drawNames = (resources: readonly ResourceFrame[], chosen: ResourceFrame | undefined): void => {
    const now = JSON.stringify([resources.map(keyOf), resources.length < 2 ? chosen?.resource : ""]);
    if (now !== shownNames) {
      shownNames = now;
      select.replaceChildren(...resources.map(optionOf));
      only.replaceChildren(...(chosen === undefined ? [] : [longName(chosen.resource)]));
      label.hidden = resources.length < 2;
      only.hidden = !label.hidden;
    }
    if (chosen !== undefined && select.value !== keyOf(chosen)) select.value = keyOf(chosen);
  };

  const drawLimits = (units: readonly string[], chosen: number): void => {
    const now = units.join("\n");
    if (now !== shownUnits) {
      shownUnits = now;
      const buttons = units.map((unit, limit) => {
        const button = h("button", { type: "button" }, unit);
        button.addEventListener("click", () => choose({ limit }));
        return button;
      });
      limits.replaceChildren(...buttons);
      limits.hidden = units.length < 2;
    }
    [...limits.children].forEach((button, i) => {
      setAttribute(button, "aria-pressed", i === chosen ? "true" : "false");
    });
  };

  return {
    element,
    draw({ state: { frame }, resource, limit }: Scene) {
      element.hidden = resource === undefined;
      drawNames([...frame.resources, ...frame.keys], resource);
      drawLimits(resource?.limits.map(unitOf) ?? [], limit);
      const shown = resource?.limits[limit];
      if (resource === undefined || shown === undefined) return setText(about, "");
      const unit = rateOf(shown, resource.windowMs);
      setText(about, shown.limit === null ? `${limitText(null)} of ${unit}` : `Limit ${amount(shown.limit)} ${unit}`);
    },
  };
}

const LONGEST_OPTION = 48;
const keyOf = ({ resource, isKey }: ResourceFrame): string => `${isKey ? "key" : "endpoint"} ${resource}`;
const optionOf = (one: ResourceFrame): HTMLElement =>
  h("option", { value: keyOf(one) }, shortened(one.isKey ? `key ${one.resource}` : one.resource, LONGEST_OPTION));
