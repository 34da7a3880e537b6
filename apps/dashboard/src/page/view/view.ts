import type { Point, ResourceFrame } from "../../wire.ts";
import type { Cell } from "../model/cells.ts";
import type { Choice, State } from "../model/state.ts";

/** What a part of the page is drawn from. */
export interface Scene {
  readonly state: State;
  readonly choice: Choice;
  readonly resource: ResourceFrame | undefined;
  /** Which of the resource's limits. */
  readonly limit: number;
  readonly cells: readonly Cell[];
  /** The past until now. */
  readonly points: readonly Point[];
}

/** A part of the page. */
export interface View {
  readonly element: HTMLElement;
  draw(scene: Scene): void;
}

/** How a part of the page changes what is shown. */
export type Choose = (change: Partial<Choice>) => void;
