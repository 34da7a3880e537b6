import { amount, duration, plural } from "../model/format.ts";
import { card, h, setAttribute, setText } from "./dom.ts";
import type { View } from "./view.ts";

/** The state of the bus, and counts of its messages. */
export function busFacts(): View {
  const list = h("dl", { class: "facts" });
  const fact = (label: string): HTMLElement => {
    const value = h("dd");
    list.append(h("div", {}, h("dt", {}, label), value));
    return value;
  };
  const [state, heard, ignored, since] = [fact("State"), fact("Heard"), fact("Not understood"), fact("Observed for")];
  const element = card("bus", "Bus", list);
  return {
    element,
    draw({ state: { frame } }) {
      setText(state, frame.bus);
      setAttribute(state, "data-tone", frame.bus === "ready" ? "good" : "bad");
      setText(heard, plural(frame.received, "message"));
      const reasons = Object.entries(frame.ignored).filter(([, count]) => count > 0);
      setText(ignored, reasons.map(([reason, count]) => `${amount(count)} ${reason}`).join(", ") || "none");
      setText(since, duration(frame.observedMs));
    },
  };
}
