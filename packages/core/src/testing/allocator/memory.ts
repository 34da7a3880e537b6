import type { AllocationReply, AllocationRequest, QuotaRequest } from "../../allocator.ts";
import { AllocationLedger } from "./ledger.ts";

interface StoredLedger {
  readonly ledger: AllocationLedger;
  forgetAt: number;
}

/** All quotas of a store in memory. Time is an argument. */
export class AllocatorMemory {
  readonly #ledgers = new Map<string, StoredLedger>();
  #sweptAt = -Infinity;

  get size(): number {
    return this.#ledgers.size;
  }

  allocate(report: AllocationRequest, now: number): AllocationReply {
    this.#sweep(now);
    const quotas = report.quotas.map((quota) => this.#ledgerOf(report.namespace, quota, now).apply(report, quota, now));
    return { epochMs: now, quotas: quotas };
  }

  /** Returns the ledger of a quota. Name, window and number of limits identify it. */
  #ledgerOf(namespace: string, { name, windowMs, limits }: QuotaRequest, now: number): AllocationLedger {
    const key = JSON.stringify([namespace, name, windowMs, limits.length]);
    const stored = this.#ledgers.get(key) ?? { ledger: new AllocationLedger(windowMs, limits), forgetAt: 0 };
    stored.forgetAt = now + 2 * windowMs + 600_000;
    this.#ledgers.set(key, stored);
    return stored.ledger;
  }

  #sweep(now: number): void {
    if (Math.abs(now - this.#sweptAt) < 60_000) return;
    this.#sweptAt = now;
    for (const [key, { forgetAt }] of this.#ledgers) if (forgetAt <= now) this.#ledgers.delete(key);
  }
}
