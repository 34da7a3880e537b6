import { byName, type Cell } from "./cells.ts";

export type SortKey = "agentId" | "used" | "share" | "waiting" | "waitMs" | "queuedMs" | "lastMessageAgoMs" | "upMs";

export interface TableChoice {
  readonly filter: string;
  readonly sort: SortKey;
  readonly isDescending: boolean;
  /** Counted from 0. */
  readonly page: number;
}

export interface TablePage {
  readonly rows: readonly Cell[];
  readonly page: number;
  readonly pages: number;
  /** The number of agents on all pages. */
  readonly count: number;
}

export const ROWS_PER_PAGE = 20;

/** Returns one page of the agents. A page number beyond the end is the last page. */
export function tablePage(cells: readonly Cell[], choice: TableChoice): TablePage {
  const wanted = choice.filter.trim().toLowerCase();
  const found = wanted === "" ? [...cells] : cells.filter(({ agentId }) => agentId.toLowerCase().includes(wanted));
  const direction = choice.isDescending ? -1 : 1;
  found.sort((a, b) => direction * compare(a, b, choice.sort) || byName.compare(a.agentId, b.agentId));
  const pages = Math.max(1, Math.ceil(found.length / ROWS_PER_PAGE));
  const page = Math.min(Math.max(0, choice.page), pages - 1);
  const rows = found.slice(page * ROWS_PER_PAGE, (page + 1) * ROWS_PER_PAGE);
  return { rows, page, pages, count: found.length };
}

function compare(a: Cell, b: Cell, key: SortKey): number {
  if (key === "agentId") return byName.compare(a.agentId, b.agentId);
  return (a[key] ?? Infinity) - (b[key] ?? Infinity) || 0;
}

/** Sorting by the same column again reverses the order; figures start with the largest. */
export function sortedBy(choice: TableChoice, sort: SortKey): TableChoice {
  const isDescending = choice.sort === sort ? !choice.isDescending : sort !== "agentId";
  return { ...choice, sort, isDescending, page: 0 };
}
