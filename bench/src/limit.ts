/**
 * The same limit for all: so high that nothing is ever refused or delayed, as long as a run stays below `tokens`
 * requests (the harness checks it). The window is short, so that those who keep a history forget it, as they would at work.
 */
export const limit = { tokens: 1e9, windowMs: 1_000 } as const;

/** What is limited. */
export const resource = "openai/gpt-5:requests";

/** `count` different names of the same length, as flat strings (what a parser gives, not what `+` gives). */
export function* resourceNames(count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield Buffer.from(`openai:key-${String(i).padStart(7, "0")}`).toString("latin1");
}
