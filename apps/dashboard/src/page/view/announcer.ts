import { entriesOf, spoken } from "../model/events.ts";
import { h, setText } from "./dom.ts";
import type { View } from "./view.ts";

/** Announces cuts, pauses and bus changes to screen readers as they happen. Earlier events are not announced. */
export function announcer(): View {
  const element = h("p", { class: "visually-hidden", role: "status" });
  let saidSeq: number | undefined;
  return {
    element,
    draw({ state: { events } }) {
      const lastSeq = events.at(-1)?.seq ?? 0;
      const since = saidSeq ?? lastSeq;
      // Set also when it is smaller: a restarted server counts from 1.
      saidSeq = lastSeq;
      const fresh = events.filter(({ seq, event }) => seq > since && isWorthIt(event.type));
      if (fresh.length > 0) setText(element, entriesOf(fresh).map(spoken).join(". "));
    },
  };
}

const isWorthIt = (type: string): boolean =>
  type === "cut" || type === "paused" || type === "announced" || type === "bus";
