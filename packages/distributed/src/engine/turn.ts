/**
 * Who is next. Every agent counts how much it was served, in limits and by weight; whoever was served least goes first.
 * `line` is how far the line as a whole has come: an agent that wanted nothing for a while starts there, so that nobody
 * saves turns up. It may be a little behind, by `late`: between two claims the line goes on, and whoever is to be served
 * often would lose most by that.
 */
export interface Turns {
  own: number;
  line: number;
}

/** The place of the next claim. */
export function nextTurn({ own, line }: Turns, late: number): number {
  return Math.max(own, line - late);
}

/** Counts a call of this size. However large it was, it sets its agent back by `most` at most. */
export function serve(turns: Turns, size: number, most: number, late: number): void {
  const turn = nextTurn(turns, late);
  turns.line = Math.max(turns.line, turn);
  turns.own = Math.min(turn + size, turns.line + most);
}

export interface Place {
  readonly turn: number;
  /** A whole number of 32 bits. Decides between equal turns; no name does, or one agent would always be first. */
  readonly tie: number;
}

export function isBefore(a: Place, b: Place): boolean {
  return a.turn !== b.turn ? a.turn < b.turn : a.tie < b.tie;
}
