import type { Frame, ResourceFrame } from "../../wire.ts";
import { amount, duration, unitOf } from "./format.ts";

/** One agent as a cell of the hive, and as a row of the table. */
export interface Cell {
  readonly agentId: string;
  readonly state: "live" | "silent" | "left";
  readonly used: number;
  /** Undefined where nothing is limited. */
  readonly share: number | undefined;
  readonly waiting: number;
  readonly waitedMs: number;
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
  const cells = frame.agents.map((agent) => {
    const { agentId, state, heardAgoMs, upMs, weight, isServed } = agent;
    const use = uses.get(agentId);
    const used = use?.used[limit] ?? 0;
    const share = use === undefined ? 0 : (use.share[limit] ?? undefined);
    full = Math.max(full, used, (share ?? 0) / level);
    const [waiting, waitedMs] = [use?.waiting[limit] ?? 0, use?.waitedMs ?? 0];
    const hasCut = level < 1 && resource?.cause?.agentId === agentId;
    return { agentId, state, heardAgoMs, upMs, weight, isServed, used, share, waiting, waitedMs, hasCut };
  });
  const fill = (value: number): number => (full > 0 ? Math.min(1, value / full) : 0);
  return cells.map((cell) => ({ ...cell, usedFill: fill(cell.used), shareFill: fill(cell.share ?? 0) }));
}

/** A cell for those who do not see it. */
export function cellText(cell: Cell, resource: ResourceFrame | undefined, limit: number): string {
  const { agentId, state, used, share, waiting, waitedMs, heardAgoMs, hasCut } = cell;
  if (state === "left") return `${agentId}: has left`;
  const about = state === "silent" ? [`silent for ${duration(heardAgoMs)}`] : [];
  const unit = unitOf(resource?.limits[limit] ?? {});
  if (resource !== undefined) {
    const of = share === undefined ? "" : ` of its share of ${amount(share)}`;
    about.push(`uses ${amount(used)}${of} ${unit}`);
  }
  if (waiting > 0) about.push(`${amount(waiting)} waiting, since ${duration(waitedMs)}`);
  if (hasCut) about.push("announced the cut");
  return `${agentId}: ${about.join("; ") || "live"}`;
}
