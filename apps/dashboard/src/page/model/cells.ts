import { waitOf } from "../../wait.ts";
import type { Frame, ResourceFrame } from "../../wire.ts";
import { amount, duration, unitOf } from "./format.ts";

/** agent-9 before agent-10. */
export const byName = new Intl.Collator("en", { numeric: true });

/** One agent as a cell of the hive, and as a row of the table. */
export interface Cell {
  readonly agentId: string;
  readonly state: "live" | "silent" | "left";
  readonly used: number;
  /** Undefined where nothing is limited. */
  readonly share: number | undefined;
  readonly waiting: number;
  /** About how long one who came now would wait. */
  readonly waitMs: number;
  /** For how long there has been a queue. */
  readonly queuedMs: number;
  readonly heardAgoMs: number;
  readonly upMs: number;
  readonly weight: number;
  readonly isServed: boolean;
  /** It announced the cut that holds now. */
  readonly hasCut: boolean;
  /** How high the cell is filled, 0 to 1. */
  readonly usedFill: number;
  readonly shareFill: number;
}

/**
 * A full cell is what the largest share would be if nothing was cut: after a cut by half the shares of all stand at half.
 * Who uses more than that stretches the scale.
 */
export function cellsOf(frame: Frame, resource: ResourceFrame | undefined, limit: number): readonly Cell[] {
  const uses = new Map(resource?.agents.map((use) => [use.agentId, use]));
  const level = Math.max(resource?.level ?? 1, 0.01);
  let full = 0;
  const agents = [...frame.agents].sort((a, b) => byName.compare(a.agentId, b.agentId));
  const cells = agents.map((agent) => {
    const { agentId, state, heardAgoMs, upMs, weight, isServed } = agent;
    const use = uses.get(agentId);
    const used = use?.used[limit] ?? 0;
    const share = use === undefined ? 0 : (use.share[limit] ?? undefined);
    full = Math.max(full, used, (share ?? 0) / level);
    const [waiting, queuedMs] = [use?.waiting[limit] ?? 0, use?.waitedMs ?? 0];
    const waitMs = use === undefined ? 0 : waitOf(use, limit, resource?.windowMs ?? 0, upMs);
    const hasCut = level < 1 && resource?.cause?.agentId === agentId;
    return { agentId, state, heardAgoMs, upMs, weight, isServed, used, share, waiting, waitMs, queuedMs, hasCut };
  });
  const fill = (value: number): number => (full > 0 ? Math.min(1, value / full) : 0);
  return cells.map((cell) => ({ ...cell, usedFill: fill(cell.used), shareFill: fill(cell.share ?? 0) }));
}

/** A cell for those who do not see it. */
export function cellText(cell: Cell, resource: ResourceFrame | undefined, limit: number): string {
  const { agentId, state, used, share, waiting, waitMs, heardAgoMs, hasCut } = cell;
  if (state === "left") return `${agentId}: has left`;
  const about = state === "silent" ? [`silent for ${duration(heardAgoMs)}`] : [];
  const unit = unitOf(resource?.limits[limit] ?? {});
  if (resource !== undefined) {
    const of = share === undefined ? "" : ` of its share of ${amount(share)}`;
    about.push(`uses ${amount(used)}${of} ${unit}`);
  }
  if (waiting > 0) about.push(`${amount(waiting)} waiting, about ${duration(waitMs)}`);
  if (hasCut) about.push("announced the cut");
  return `${agentId}: ${about.join("; ") || "live"}`;
}
