/**
 * Who is next. Every agent counts how much it was served, in limits and by weight; whoever was served least goes first.
 * `line` is how far the line as a whole has come: an agent that wanted nothing for a while starts there, so that nobody
 * saves turns up.
 */
export interface Turns {
  own: number;
  line: number;
}

/** The place of the next claim. */
export function nextTurn(turns: Turns): number {
  return Math.max(turns.own, turns.line);
}

/** Counts a call of this size. However large it was, it sets its agent back by `most` at most. */
export function serve(turns: Turns, size: number, most: number): void {
  const turn = nextTurn(turns);
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
