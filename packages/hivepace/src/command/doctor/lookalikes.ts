import { distanceOf } from "../text/nearest.ts";

/** Two endpoints with similar ids, and the agents that use each. */
export interface Lookalike {
  readonly names: readonly { readonly resource: string; readonly agents: readonly string[] }[];
  /** Whether the ids differ only in case, hyphens and other signs, which is hardly intended. */
  readonly isSame: boolean;
}

/** Matches tenant keys and limits with their own window, which appear beside endpoints on the wire. */
const OTHERS = /^@|@\d/;
/** In shorter names a single letter is significant: eu and us. */
const LONG_ENOUGH = 5;
/** Bounds the pairwise comparison in a swarm with thousands of endpoints. */
const MOST_ENDPOINTS = 500;

/**
 * Finds pairs of ids such as `openai` and `open-ai` that no agent uses together: probably one endpoint meant to share
 * one limit. An agent that uses both ids distinguishes them deliberately.
 */
export function lookalikesOf(holders: ReadonlyMap<string, ReadonlySet<string>>): Lookalike[] {
  const endpoints = [...holders].filter(([resource]) => !OTHERS.test(resource)).slice(0, MOST_ENDPOINTS);
  return endpoints.flatMap(([one, first], i) =>
    endpoints.slice(i + 1).flatMap(([other, second]) => {
      const isSame = bare(one) === bare(other);
      if (!(isSame || isNear(one, other)) || [...first].some((agent) => second.has(agent))) return [];
      const names = [
        { resource: one, agents: [...first] },
        { resource: other, agents: [...second] },
      ];
      return [{ names, isSame }];
    }),
  );
}

/** Reduces a name to letters, digits and the slash before a model. */
const bare = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}/]/gu, "");

/**
 * Whether one letter was added, removed, replaced, or swapped with its neighbour. Digits must agree: gpt-4 and gpt-5
 * differ.
 */
function isNear(one: string, other: string): boolean {
  const [a, b] = [bare(one), bare(other)];
  if (Math.min(a.length, b.length) < LONG_ENOUGH || digitsOf(a) !== digitsOf(b)) return false;
  return distanceOf(a, b) <= 1 || (a.length === b.length && isExchange(a, b));
}

const digitsOf = (name: string): string => name.replace(/\D+/g, " ");

function isExchange(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return a.slice(at + 2) === b.slice(at + 2) && a[at] === b[at + 1] && a[at + 1] === b[at];
}
