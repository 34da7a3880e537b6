import type { Point, ResourceFrame } from "../../wire.ts";
import type { Cell } from "../model/cells.ts";
import type { Choice, State } from "../model/state.ts";

/** The input for drawing a part of the page. */
export interface Scene {
  readonly state: State;
  readonly choice: Choice;
  readonly resource: ResourceFrame | undefined;
  /** Index of the selected limit of the resource. */
  readonly limit: number;
  readonly cells: readonly Cell[];
  /** The history, with the current state as its last point. */
  readonly points: readonly Point[];
}

/** A part of the page. */
export interface View {
  readonly element: HTMLElement;
  draw(scene: Scene): void;
}

/** Changes the selection. */
export type Choose = (change: Partial<Choice>) => void;
