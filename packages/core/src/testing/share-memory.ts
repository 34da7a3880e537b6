import type { SharePool, ShareReply, ShareReport } from "../share-store.ts";
import { ShareLedger } from "./share-ledger.ts";

interface Kept {
  readonly ledger: ShareLedger;
  forgetAt: number;
}

/** All pools of a store in memory. Time is an argument. */
export class ShareMemory {
  readonly #ledgers = new Map<string, Kept>();
  #sweptAt = -Infinity;

  get size(): number {
    return this.#ledgers.size;
  }

  share(report: ShareReport, now: number): ShareReply {
    this.#sweep(now);
    const pools = report.pools.map((pool) => this.#ledgerOf(report.namespace, pool, now).apply(report, pool, now));
    return { epochMs: now, pools };
  }

  /** Pools of one name and of different windows are different pools. */
  #ledgerOf(namespace: string, { name, windowMs, limits }: SharePool, now: number): ShareLedger {
    const key = JSON.stringify([namespace, name, windowMs, limits.length]);
    const kept = this.#ledgers.get(key) ?? { ledger: new ShareLedger(windowMs, limits), forgetAt: 0 };
    kept.forgetAt = now + 2 * windowMs + 600_000;
    this.#ledgers.set(key, kept);
    return kept.ledger;
  }

  #sweep(now: number): void {
    if (Math.abs(now - this.#sweptAt) < 60_000) return;
    this.#sweptAt = now;
    for (const [key, { forgetAt }] of this.#ledgers) if (forgetAt <= now) this.#ledgers.delete(key);
  }
}
