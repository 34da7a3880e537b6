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

/** What went on in the last minutes. */
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
        const isTracked = state.points.at(-1)?.resources.some((one) => one.resource === resource?.resource) ?? false;
        untracked.hidden = resource === undefined || isTracked;
        setText(untracked, `Its past is not kept: only that of the first ${state.hello.maxTracked} endpoints is.`);
        draw(scene);
      },
    };
  };
  return {
    admitted: part("admitted", "Admitted against the limit", used, ({ state, points, resource, limit }) => {
      const columns = admitted(points, resource?.resource ?? "", limit, resource?.limits[limit]?.dimension);
      used.draw(columns, drawing(state, resource?.resource, amount));
    }),
    level: part(
      "level",
      "Level",
      level,
      ({ state, points, resource }) => {
        drawCause(cause, resource);
        level.draw(levels(points, resource?.resource ?? ""), drawing(state, resource?.resource, percents));
      },
      cause,
    ),
    waiting: part("waiting", "Queue and wait", waiting, ({ state, points, resource, limit }) => {
      const columns = waits(points, resource?.resource ?? "", limit);
      waiting.draw(columns, drawing(state, resource?.resource, amount));
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

/** Who cut it last, why, and how it goes on. */
function drawCause(element: HTMLElement, resource: Scene["resource"]): void {
  if (resource === undefined) {
    setText(element, "");
    return;
  }
  const { cause, level, pausedForMs, risesInMs } = resource;
  const first = resource.limits[0];
  const now = first?.total == null ? "" : ` (${amount(first.total)} ${unitOf(first)})`;
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
