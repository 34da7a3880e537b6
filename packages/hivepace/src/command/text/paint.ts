import type { Screen, World } from "../world.ts";

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

export type Paint = (style: keyof typeof CODES, text: string) => string;

/** Returns a function that adds colours on a terminal, unless NO_COLOR is set. */
export function paintFor(screen: Screen, { env }: World): Paint {
  if (!screen.isTTY || env["NO_COLOR"] || env["TERM"] === "dumb") return (_, text) => text;
  return (style, text) => `\x1b[${CODES[style]}m${text}\x1b[0m`;
}
