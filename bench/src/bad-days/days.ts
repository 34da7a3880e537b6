import { seededRandom } from "@hivepace/core/testing";
import type { Asked, Behaviour } from "./provider.ts";

/** What goes wrong, at one endpoint or at two. Times are parts of the run. */
export interface Day {
  readonly name: string;
  /** Called for each contender, so that both meet the same. */
  readonly endpoints: (runMs: number) => readonly ((asked: Asked) => Behaviour)[];
  /** The second endpoint refuses every connection. */
  readonly isSecondGone?: boolean;
  /** The limit that agents are configured with, in calls a window; undefined for none. */
  readonly perWindow?: number;
  /** One second unless given. */
  readonly windowMs?: number;
  readonly isFastest?: boolean;
}

/** Calls a second that all agents together want. */
export const WANTED = 60;
const OK: Behaviour = { kind: "ok" };
const OVERLOAD: Behaviour = { kind: "overload" };
const fine = (): Behaviour => OK;
const always = (behaviour: Behaviour) => (): Behaviour => behaviour;

function sometimes(part: number, behaviour: Behaviour): Day["endpoints"] {
  return () => {
    const random = seededRandom(11);
    return [() => (random() < part ? behaviour : OK)];
  };
}

/** A provider that accepts this number of calls in each second. */
function limited(perSecond: number): (asked: Asked) => Behaviour {
  let second = -1;
  let accepted = 0;
  return ({ ms }) => {
    if (Math.floor(ms / 1_000) !== second) [second, accepted] = [Math.floor(ms / 1_000), 0];
    if (accepted >= perSecond) return { kind: "limited", retryAfterS: 1 };
    accepted++;
    return OK;
  };
}

export const days: readonly Day[] = [
  { name: "nothing wrong", endpoints: () => [fine] },
  {
    name: "one stray 429",
    endpoints: (runMs) => {
      let isOver = false;
      return [
        ({ ms }) => {
          if (isOver || ms < runMs / 3) return OK;
          isOver = true;
          return { kind: "limited", retryAfterS: 1 };
        },
      ];
    },
  },
  { name: "0.5 % overload", endpoints: sometimes(0.005, OVERLOAD) },
  { name: "2 % overload", endpoints: sometimes(0.02, OVERLOAD) },
  { name: "30 % overload", endpoints: sometimes(0.3, OVERLOAD) },
  {
    name: "an outage of a third of the run",
    endpoints: (runMs) => [({ ms }) => (ms >= runMs / 6 && ms < runMs / 2 ? OVERLOAD : OK)],
  },
  { name: "limit 60 % of what is wanted", endpoints: () => [limited(WANTED * 0.6)], perWindow: WANTED * 2 },
  { name: "one of two refuses connections", endpoints: () => [fine, fine], isSecondGone: true },
  { name: "one of two answers 500", endpoints: () => [fine, always({ kind: "status", status: 500 })] },
  { name: "one of two answers 401", endpoints: () => [fine, always({ kind: "status", status: 401 })] },
  { name: "one of two resets connections", endpoints: () => [fine, always({ kind: "reset" })] },
  {
    name: "the quota of one of two models is gone",
    endpoints: () => [({ model }) => (model === "big" ? { kind: "spent" } : OK)],
  },
  {
    name: "one of two is ten times slower",
    endpoints: () => [fine, always({ kind: "ok", latencyMs: 300 })],
    isFastest: true,
  },
];
