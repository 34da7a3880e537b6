import { cellsOf } from "../model/cells.ts";
import { pointsUntilNow } from "../model/now.ts";
import { type Choice, chosenLimit, chosenResource, type State } from "../model/state.ts";
import { agentsTable } from "./agents-table.ts";
import { announcer } from "./announcer.ts";
import { busFacts } from "./bus-facts.ts";
import { charts } from "./charts.ts";
import { forgetColours } from "./colour.ts";
import { controls } from "./controls.ts";
import { h } from "./dom.ts";
import { endpoints } from "./endpoints.ts";
import { figures } from "./figures.ts";
import { happenings } from "./happenings.ts";
import { hive } from "./hive.ts";
import { overview } from "./overview.ts";
import { scope } from "./scope.ts";
import { topBar } from "./top-bar.ts";

/** The whole page. A hidden page is not redrawn. */
export function page() {
  let state: State | undefined;
  let choice: Choice = { resource: undefined, isKey: false, limit: undefined, agentId: undefined };
  const choose = (change: Partial<Choice>): void => {
    choice = { ...choice, ...change };
    redraw();
  };
  const past = charts();
  const comb = hive(choose);
  const top = topBar(() => {
    forgetColours();
    comb.restyle();
    past.restyle();
  });
  const voice = announcer();
  const parts = {
    overview: overview(choose),
    scope: scope(choose),
    controls: controls(),
    figures: figures(),
    hive: comb,
    admitted: past.admitted,
    level: past.level,
    waiting: past.waiting,
    answers: past.answers,
    happenings: happenings(),
    endpoints: endpoints(),
    bus: busFacts(),
    agents: agentsTable(),
  };
  const { overview: all, scope: which, controls: desk, figures: numbers, bus, ...cards } = parts;
  const side = h("div", { class: "side" }, cards.endpoints.element, bus.element);
  const main = h(
    "main",
    { id: "main", tabindex: -1 },
    desk.element,
    all.element,
    which.element,
    numbers.element,
    h(
      "div",
      { class: "grid" },
      cards.hive.element,
      h("div", { class: "side" }, cards.admitted.element, cards.level.element),
    ),
    h("div", { class: "grid grid-even" }, cards.waiting.element, cards.answers.element),
    h("div", { class: "grid grid-loose" }, cards.happenings.element, side),
    cards.agents.element,
  );
  const skip = h("a", { class: "skip", href: "#main" }, "Skip to the figures");
  const footer = h(
    "footer",
    {},
    "Hivepace only listens here. For machines: ",
    h("a", { href: "snapshot" }, "the same as JSON"),
    ".",
  );
  const element = h("div", { class: "page" }, skip, top.element, main, footer, voice.element);

  const redraw = (): void => {
    if (state === undefined || document.hidden) return;
    const resource = chosenResource(state.frame, choice);
    const limit = chosenLimit(resource, choice);
    // Keeps the first displayed endpoint and dimension, even when the order changes. Before any usage no limit binds,
    // so nothing is kept yet.
    const isUsed = resource?.limits.some(({ used }) => used > 0) ?? false;
    if (resource !== undefined && isUsed && (choice.resource !== resource.resource || choice.limit !== limit))
      choice = { ...choice, resource: resource.resource, isKey: resource.isKey ?? false, limit };
    const scene = {
      state,
      choice,
      resource,
      limit,
      cells: cellsOf(state.frame, resource, limit),
      points: pointsUntilNow(state),
    };
    parts.answers.element.hidden = state.frame.provider === undefined;
    element.classList.toggle("is-empty", resource === undefined && scene.cells.length === 0);
    top.draw(scene);
    for (const part of Object.values(parts)) part.draw(scene);
    voice.draw(scene);
  };
  document.addEventListener("visibilitychange", redraw);
  return {
    element,
    draw(now: State) {
      state = now;
      redraw();
    },
    setConnection: top.setConnection,
  };
}
