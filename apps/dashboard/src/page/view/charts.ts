import { amount, duration, unitOf } from "../model/format.ts";
import { admitted, answers, cutTimes, levels, outages, waits } from "../model/series.ts";
import { type Chart, chart } from "./chart.ts";
import { card, h, setText } from "./dom.ts";
import type { Scene, View } from "./view.ts";

const percents = (value: number): string => `${Math.round(value)} %`;
const seconds = (value: number): string => duration(value * 1_000);

interface Charts {
  readonly admitted: View;
  readonly level: View;
  readonly waiting: View;
  readonly answers: View;
  restyle(): void;
}

/** The charts of the last minutes. */
export function charts(): Charts {
  const used = chart("Admitted against the limit", [
    { label: "admitted", kind: "used", isFilled: true },
    { label: "allowed now", kind: "total", isStepped: true },
    { label: "limit", kind: "limit", isStepped: true },
    { label: "counted by the provider", kind: "provider" },
  ]);
  const level = chart("Level", [{ label: "level", kind: "level", isStepped: true, isFilled: true }], { maxY: 105 });
  const waiting = chart("Queue and wait", [
    { label: "waiting", kind: "waiting", isFilled: true },
    { label: "about the longest wait", kind: "longest", show: seconds, isRight: true },
  ]);
  const answered = chart("What the provider answered", [
    { label: "accepted", kind: "accepted", isBars: true },
    { label: "429", kind: "refused", isBars: true },
  ]);
  const all = [used, level, waiting, answered];

  const cause = h("p", { class: "cause" });
  const part = (
    id: string,
    title: string,
    chart: Chart,
    draw: (scene: Scene) => void,
    ...rest: HTMLElement[]
  ): View => {
    const untracked = h("p", { class: "untracked", hidden: true });
    const element = card(id, title, ...rest, untracked, chart.element);
    return {
      element,
      draw(scene) {
        const { resource, state } = scene;
        const isTracked = state.points.at(-1)?.resources.some((one) => one.resource === pastOf(resource)) ?? false;
        untracked.hidden = resource === undefined || isTracked;
        const kept = resource?.isKey ? "endpoints" : `the first ${state.hello.maxTracked} endpoints`;
        setText(untracked, `Its past is not kept: only that of ${kept} is.`);
        draw(scene);
      },
    };
  };
  return {
    admitted: part("admitted", "Admitted against the limit", used, ({ state, points, resource, limit }) => {
      const columns = admitted(points, pastOf(resource), limit, resource?.limits[limit]?.dimension);
      used.draw(columns, drawing(state, pastOf(resource), amount));
    }),
    level: part(
      "level",
      "Level",
      level,
      ({ state, points, resource }) => {
        drawCause(cause, resource);
        level.draw(levels(points, pastOf(resource)), drawing(state, pastOf(resource), percents));
      },
      cause,
    ),
    waiting: part("waiting", "Queue and wait", waiting, ({ state, points, resource, limit }) => {
      const columns = waits(points, pastOf(resource), limit);
      waiting.draw(columns, drawing(state, pastOf(resource), amount));
    }),
    answers: {
      ...part("answers", "What the provider answered, a second", answered, ({ state }) => {
        answered.draw(answers(state.points), drawing(state, undefined, amount));
      }),
    },
    restyle() {
      for (const one of all) one.restyle();
    },
  };
}

function drawing(
  { points, events, frame }: Scene["state"],
  resource: string | undefined,
  show: (value: number) => string,
) {
  const cuts = resource === undefined ? [] : cutTimes(events, resource);
  return { nowS: frame.at / 1_000, cuts, outages: outages(points), show };
}

/** The name under which the history of a resource is kept; keys have no history. */
const pastOf = (resource: Scene["resource"]): string => (resource?.isKey ? "" : (resource?.resource ?? ""));

/** Describes the last cut: its agent, its reason, and the next step of the recovery. */
function drawCause(element: HTMLElement, resource: Scene["resource"]): void {
  if (resource === undefined) {
    setText(element, "");
    return;
  }
  const { cause, level, pausedForMs, risesInMs } = resource;
  const first = resource.limits[0];
  const now = first?.total == null ? "" : ` (${amount(first.total)} ${unitOf(first)})`;
  if (cause === undefined && pausedForMs > 0) {
    setText(element, `All pause for ${duration(pausedForMs)}.`);
    return;
  }
  if (cause === undefined || (level >= 1 && pausedForMs <= 0)) {
    setText(element, `All of the limit${now} may be used: nothing is cut.`);
    return;
  }
  const quote = (data: string) => h("bdi", { class: "data strong" }, data);
  const rises = risesInMs === undefined ? "." : `; it rises in ${duration(risesInMs)}.`;
  const paused = pausedForMs > 0 ? ` All pause for ${duration(pausedForMs)}.` : "";
  element.replaceChildren(
    `At ${percents(level * 100)}${now}: cut by `,
    quote(cause.agentId),
    ` ${duration(cause.agoMs)} ago, “`,
    quote(cause.reason),
    `”${rises}${paused}`,
  );
}
