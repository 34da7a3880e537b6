import { amount, limitText, perWindow, unitOf } from "../model/format.ts";
import { h, name, setAttribute, setText } from "./dom.ts";
import type { Choose, Scene, View } from "./view.ts";

/** Which endpoint and which of its limits everything below is about. */
export function scope(choose: Choose): View {
  const select = h("select", { id: "resource" });
  const only = h("p", { class: "scope-name" });
  const label = h("label", { class: "scope-select" }, h("span", {}, "Endpoint"), select);
  const limits = h("div", { class: "segments", role: "group", "aria-label": "Limit" });
  const about = h("p", { class: "scope-about" });
  const element = h("div", { class: "scope" }, label, only, limits, about);
  select.addEventListener("change", () => choose({ resource: select.value, limit: undefined }));
  let shownNames = "";
  let shownUnits = "";

  const drawNames = (names: readonly string[], chosen: string | undefined): void => {
    const now = JSON.stringify([names, names.length < 2 ? chosen : ""]);
    if (now !== shownNames) {
      shownNames = now;
      select.replaceChildren(...names.map((value) => h("option", { value }, value)));
      only.replaceChildren(...(chosen === undefined ? [] : [name(chosen)]));
      label.hidden = names.length < 2;
      only.hidden = !label.hidden;
    }
    if (chosen !== undefined && select.value !== chosen) select.value = chosen;
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
      drawNames(
        frame.resources.map((one) => one.resource),
        resource?.resource,
      );
      drawLimits(resource?.limits.map(unitOf) ?? [], limit);
      const shown = resource?.limits[limit];
      if (resource === undefined || shown === undefined) return setText(about, "");
      const unit = `${unitOf(shown)} ${perWindow(resource.windowMs)}`;
      setText(about, shown.limit === null ? `${limitText(null)} of ${unit}` : `Limit ${amount(shown.limit)} ${unit}`);
    },
  };
}
