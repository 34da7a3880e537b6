/** What can be learned from agents' own words beyond what an observer makes of them. Pure; see docs/wire.md. */
export interface Survey {
  /** Resources for which live agents have different limits or windows: each of these, and who has it. */
  readonly differences: readonly { readonly resource: string; readonly groups: readonly LimitGroup[] }[];
  /** Names by which two processes go at once. */
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

/** From payloads in the order in which they were heard; what is not understood is left out. */
export function surveyOf(payloads: readonly Uint8Array[]): Survey {
  const words = payloads.flatMap((payload) => wordOf(payload) ?? []);
  return { differences: differencesOf(words), twins: twinsOf(words) };
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

/** A life that is heard again after a later one of the same name did not end with it. */
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
