import type { ControlAnswer, Hello } from "../../wire.ts";
import { card, h, name, setAttribute } from "./dom.ts";
import type { Scene, View } from "./view.ts";

/** Buttons that act on the swarm, and a line with the outcome. Hidden without controls. */
export function controls(): View {
  const list = h("div", { class: "controls" });
  const outcome = h("p", { class: "outcome", role: "status" });
  const element = card("controls", "Cause trouble", list, outcome);
  element.hidden = true;
  let shown = "";
  let token = "";

  const press = async (button: HTMLButtonElement, id: string): Promise<void> => {
    if (button.getAttribute("aria-disabled") === "true") return;
    // Not `disabled`, which would take the focus away from keyboard users.
    setAttribute(button, "aria-disabled", "true");
    const answer = await ask(id, token);
    setAttribute(button, "aria-disabled", undefined);
    const hasFailed = "error" in answer;
    setAttribute(outcome, "data-tone", hasFailed ? "bad" : "good");
    outcome.replaceChildren(hasFailed ? "That failed: " : "", name(hasFailed ? answer.error : answer.done));
  };

  const buttonOf = ({ id, label, about }: Hello["controls"][number]): HTMLElement => {
    const button = h("button", { type: "button", class: "control", "data-control": id });
    button.append(h("span", { class: "control-label" }, label), h("span", { class: "control-about" }, about));
    button.addEventListener("click", () => void press(button, id));
    return button;
  };

  return {
    element,
    draw({ state: { hello } }: Scene) {
      token = hello.token ?? "";
      const now = JSON.stringify(hello.controls);
      if (now === shown) return;
      shown = now;
      list.replaceChildren(...hello.controls.map(buttonOf));
      element.hidden = hello.controls.length === 0;
    },
  };
}

async function ask(id: string, token: string): Promise<ControlAnswer> {
  try {
    const response = await fetch(`controls/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-hivepace-token": token },
      body: "{}",
    });
    return (await response.json()) as ControlAnswer;
  } catch {
    return { error: "no connection to the dashboard" };
  }
}
