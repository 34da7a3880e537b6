import type { Agent } from "./agent.ts";
import type { Quota } from "./quota.ts";
import type { UsageWindow } from "./usage-window.ts";

/** The readable part of a usage window. */
interface UsageView {
  readonly windowMs: number;
  readonly sum: readonly number[];
  between(from: number, to: number): readonly number[];
}

/** The same type without members that change it, at any depth. */
type View<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends UsageWindow
    ? UsageView
    : T extends ReadonlyMap<infer Key, infer Value>
      ? ReadonlyMap<Key, View<Value>>
      : T extends ReadonlySet<infer Value>
        ? ReadonlySet<View<Value>>
        : T extends readonly (infer Value)[]
          ? readonly View<Value>[]
          : T extends object
            ? { readonly [Field in keyof T]: View<T[Field]> }
            : T;

/** A read-only view of an agent. */
export interface AgentView extends View<Agent> {}

/** A read-only view of a quota. */
export interface QuotaView extends View<Quota> {}

/** The type of an engine function outside the engine, where agents and quotas are views. */
export type Outside<F extends (...args: never[]) => unknown> = F extends (...args: infer Args) => infer Result
  ? (...args: { [I in keyof Args]: Outward<Args[I]> }) => Outward<Result>
  : never;

type Outward<T> = T extends Agent ? AgentView : T extends Quota ? QuotaView : T;
