import { type Lookalike, lookalikesOf } from "./lookalikes.ts";

/** Conclusions from the agents' messages beyond those of an observer. Computed purely; see docs/wire.md. */
export interface Survey {
  /** Resources for which live agents have different limits or windows, with the agents of each variant. */
  readonly differences: readonly { readonly resource: string; readonly groups: readonly LimitGroup[] }[];
  /** Pairs of endpoints with similar ids that no agent uses together. */
  readonly lookalikes: readonly Lookalike[];
  /** Agent ids used by two processes at once. */
  readonly twins: readonly string[];
}

interface LimitGroup {
  readonly windowMs: number;
  readonly limits: readonly number[];
  readonly agents: readonly string[];
}

interface Word {
  readonly agentId: string;
  readonly life: number;
  readonly pools: readonly {
    readonly resource: string;
    readonly windowMs: number;
    readonly limits: readonly number[];
  }[];
}

/** Surveys payloads in the order of their arrival; invalid payloads are skipped. */
export function surveyOf(payloads: readonly Uint8Array[]): Survey {
  const words = payloads.flatMap((payload) => wordOf(payload) ?? []);
  return { differences: differencesOf(words), lookalikes: lookalikesOf(holdersOf(words)), twins: twinsOf(words) };
}

function differencesOf(words: readonly Word[]): Survey["differences"] {
  const byResource = new Map<string, Map<string, { windowMs: number; limits: readonly number[] }>>();
  for (const { agentId, pools } of words)
    for (const { resource, windowMs, limits } of pools) {
      const known = byResource.get(resource) ?? new Map();
      byResource.set(resource, known.set(agentId, { windowMs, limits }));
    }
  return [...byResource].flatMap(([resource, agents]) => {
    const groups = new Map<string, { windowMs: number; limits: readonly number[]; agents: string[] }>();
    for (const [agentId, set] of agents) {
      const key = JSON.stringify(set);
      const group = groups.get(key) ?? { ...set, agents: [] };
      group.agents.push(agentId);
      groups.set(key, group);
    }
    return groups.size > 1 ? [{ resource, groups: [...groups.values()] }] : [];
  });
}

function holdersOf(words: readonly Word[]): Map<string, Set<string>> {
  const holders = new Map<string, Set<string>>();
  for (const { agentId, pools } of words)
    for (const { resource } of pools) holders.set(resource, (holders.get(resource) ?? new Set()).add(agentId));
  return holders;
}

/** Finds ids whose earlier incarnation sends messages after a later one, so that both must be running. */
function twinsOf(words: readonly Word[]): string[] {
  const latest = new Map<string, number>();
  const twins = new Set<string>();
  for (const { agentId, life } of words) {
    const known = latest.get(agentId) ?? life;
    if (life < known) twins.add(agentId);
    else latest.set(agentId, life);
  }
  return [...twins];
}

function wordOf(payload: Uint8Array): Word | undefined {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { v, agent_id: agentId, life, pools } = fields ?? {};
  if (v !== 1 || typeof agentId !== "string" || typeof life !== "number") return undefined;
  const list = Array.isArray(pools) ? (pools as Record<string, unknown>[]) : [];
  return {
    agentId,
    life,
    pools: list.flatMap((pool) => {
      const { resource, window_ms: windowMs, limits } = pool ?? {};
      const isRight = typeof resource === "string" && typeof windowMs === "number" && Array.isArray(limits);
      return isRight ? [{ resource, windowMs, limits: limits as number[] }] : [];
    }),
  };
}
