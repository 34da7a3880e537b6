import { entriesOf, spoken } from "../model/events.ts";
import { h, setText } from "./dom.ts";
import type { View } from "./view.ts";

/** Tells those who do not see it of cuts, pauses and the bus as they happen. What was before stays unsaid. */
export function announcer(): View {
  const element = h("p", { class: "visually-hidden", role: "status" });
  let saidSeq: number | undefined;
  return {
    element,
    draw({ state: { events } }) {
      const lastSeq = events.at(-1)?.seq ?? 0;
      const since = saidSeq ?? lastSeq;
      // One that started anew counts from 1 again.
      saidSeq = lastSeq;
      const fresh = events.filter(({ seq, event }) => seq > since && isWorthIt(event.type));
      if (fresh.length > 0) setText(element, entriesOf(fresh).map(spoken).join(". "));
    },
  };
}

const isWorthIt = (type: string): boolean =>
  type === "cut" || type === "paused" || type === "announced" || type === "bus";
