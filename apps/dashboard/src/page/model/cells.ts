import { waitOf } from "../../wait.ts";
import type { Frame, ResourceFrame } from "../../wire.ts";
import { amount, duration, unitOf } from "./format.ts";

/** Natural order: agent-9 before agent-10. */
export const byName = new Intl.Collator("en", { numeric: true });

/** One agent as a cell of the hive, and as a row of the table. */
export interface Cell {
  readonly agentId: string;
  readonly state: "live" | "silent" | "left";
  readonly used: number;
  /** Undefined without a limit. */
  readonly share: number | undefined;
  readonly waiting: number;
  /** Estimated wait of a new request. */
  readonly waitMs: number;
  /** The time for which the agent has had a queue. */
  readonly queuedMs: number;
  /** The time for which the agent's oldest call has held a slot. */
  readonly heldMs: number;
  readonly lastMessageAgoMs: number;
  readonly upMs: number;
  readonly weight: number;
  readonly isAllocated: boolean;
  /** Whether the agent announced the current cut. */
  readonly hasCut: boolean;
  /** Fill levels of the cell, 0 to 1. */
  readonly usedFill: number;
  readonly shareFill: number;
}

/**
 * Derives the cells from a frame. A full cell represents the largest share without a cut, so that after a cut by half
 * all shares fill half a cell. Usage above that extends the scale.
 */
export function cellsOf(frame: Frame, resource: ResourceFrame | undefined, limit: number): readonly Cell[] {
  const uses = new Map(resource?.agents.map((use) => [use.agentId, use]));
  const level = Math.max(resource?.level ?? 1, 0.01);
  let full = 0;
  const agents = [...frame.agents].sort((a, b) => byName.compare(a.agentId, b.agentId));
  const cells = agents.map((agent) => {
    const { agentId, state, lastMessageAgoMs, upMs, weight, isAllocated } = agent;
    const use = uses.get(agentId);
    const used = use?.used[limit] ?? 0;
    const share = use === undefined ? 0 : (use.share[limit] ?? undefined);
    full = Math.max(full, used, (share ?? 0) / level);
    const [waiting, queuedMs, heldMs] = [use?.waiting[limit] ?? 0, use?.waitedMs ?? 0, use?.heldMs ?? 0];
    const waitMs = use === undefined ? 0 : waitOf(use, limit, resource?.windowMs ?? 0, upMs);
    const hasCut = level < 1 && resource?.cause?.agentId === agentId;
    return {
      agentId,
      state,
      lastMessageAgoMs,
      upMs,
      weight,
      isAllocated,
      used,
      share,
      waiting,
      waitMs,
      queuedMs,
      heldMs,
      hasCut,
    };
  });
  const fill = (value: number): number => (full > 0 ? Math.min(1, value / full) : 0);
  return cells.map((cell) => ({ ...cell, usedFill: fill(cell.used), shareFill: fill(cell.share ?? 0) }));
}

/** The age from which a call that holds a slot is named. */
const LONG_CALL_MS = 30_000;

export const isHeldLong = ({ heldMs }: Pick<Cell, "heldMs">): boolean => heldMs >= LONG_CALL_MS;

/** Describes a cell for screen readers and the line below the hive. */
export function cellText(cell: Cell, resource: ResourceFrame | undefined, limit: number): string {
  const { agentId, state, used, share, waiting, waitMs, heldMs, lastMessageAgoMs, hasCut } = cell;
  if (state === "left") return `${agentId}: has left`;
  const about = state === "silent" ? [`silent for ${duration(lastMessageAgoMs)}`] : [];
  const unit = unitOf(resource?.limits[limit] ?? {});
  if (resource !== undefined) {
    const of = share === undefined ? "" : ` of its share of ${amount(share)}`;
    about.push(`uses ${amount(used)}${of} ${unit}`);
  }
  if (waiting > 0) about.push(`${amount(waiting)} waiting, about ${duration(waitMs)}`);
  if (hasCut) about.push("announced the cut");
  if (isHeldLong(cell)) about.push(`a call for ${duration(heldMs)}`);
  return `${agentId}: ${about.join("; ") || "live"}`;
}
