/**
 * The common limit, too high to refuse or delay anything as long as a run stays below `tokens` requests (the harness
 * checks it). The window is short, so that limiters that keep a history expire it, as in production.
 */
export const limit = { tokens: 1e9, windowMs: 1_000 } as const;

/** The name of the limited resource. */
export const resource = "openai/gpt-5:requests";

/** Generates `count` different names of the same length, as flat strings (like those of a parser, not of `+`). */
export function* resourceNames(count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield Buffer.from(`openai:key-${String(i).padStart(7, "0")}`).toString("latin1");
}
