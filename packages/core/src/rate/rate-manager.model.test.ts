import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { RateManager } from "./rate-manager.ts";
import type { RateDecision } from "./rate-types.ts";

const WINDOW_MS = 1000;
const ENDPOINTS = ["e0", "e1"] as const;
const KEYS = ["k0", "k1"] as const;

interface Limits {
  rpm: number | undefined;
  tpm: number | undefined;
}

interface Count {
  window: number;
  requests: number;
  tokens: number;
}

/** A reference model as plain as possible: one thread, one map, and the previous window for sliding windows. */
class Model {
  readonly limits = new Map<string, Limits>();
  readonly counts = new Map<string, Count>();

  constructor(readonly isSliding: boolean) {}

  count(id: string, window: number): Count {
    const name = `${id} ${window}`;
    let count = this.counts.get(name);
    if (!count) {
      count = { window, requests: 0, tokens: 0 };
      this.counts.set(name, count);
    }
    return count;
  }

  denies(id: string, epochMs: number, tokens: number): "rpm" | "tpm" | undefined {
    const limits = this.limits.get(id);
    if (!limits) return undefined;
    const window = Math.floor(epochMs / WINDOW_MS);
    const now = this.count(id, window);
    const before = this.count(id, window - 1);
    const weight = this.isSliding ? 1 - (epochMs % WINDOW_MS) / WINDOW_MS : 0;
    if (now.requests + before.requests * weight + 1 > (limits.rpm ?? Infinity) + 1e-6) return "rpm";
    if (now.tokens + before.tokens * weight + tokens > (limits.tpm ?? Infinity) + 1e-6) return "tpm";
    return undefined;
  }

  check(endpoint: string, key: string | undefined, epochMs: number, tokens: number): string | undefined {
    const byKey = key && this.denies(key, epochMs, tokens);
    if (byKey) return `key-${byKey}`;
    const byEndpoint = this.denies(endpoint, epochMs, tokens);
    if (byEndpoint) return `endpoint-${byEndpoint}`;
    this.add(endpoint, key, epochMs, tokens, 1);
    return undefined;
  }

  add(endpoint: string, key: string | undefined, epochMs: number, tokens: number, requests: number): void {
    for (const id of key ? [endpoint, key] : [endpoint]) {
      if (!this.limits.has(id)) continue;
      const count = this.count(id, Math.floor(epochMs / WINDOW_MS));
      count.requests = Math.max(0, count.requests + requests);
      count.tokens = Math.max(0, count.tokens + tokens);
    }
  }
}

const limit = fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined });
const endpoint = fc.constantFrom(...ENDPOINTS);
const key = fc.option(fc.constantFrom(...KEYS), { nil: undefined });
const tokens = fc.integer({ min: 0, max: 12 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("check" as const), endpoint, key, tokens, handle: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("end" as const), which: fc.nat(), tokens: fc.option(tokens) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constantFrom(1000, 2000, 256_000, 512_000)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("endpoint" as const), id: endpoint, rpm: limit, tpm: limit }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("key" as const), id: fc.constantFrom(...KEYS), rpm: limit, tpm: limit }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("removeKey" as const), id: fc.constantFrom(...KEYS) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("wall" as const), ms: fc.integer({ min: -5000, max: 5000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("share" as const) }) },
);

describe.each(["fixed", "sliding"] as const)("rate manager against a plain model, %s windows", (window) => {
  test.each([1, 2])("any sequence of calls, by %d managers, decides as the model does", (managers) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.infiniteStream(fc.nat()), (steps, turns) => {
        const clock = new ManualClock({ now: 77, epochMs: 1_000_000_300 });
        const epochStart = clock.epochMs() - clock.now();
        const first = new RateManager({ clock, windowMs: WINDOW_MS, window });
        const all = [first];
        while (all.length < managers) all.push(new RateManager({ clock, shared: first.share({ maxIds: 8 }) }));
        const model = new Model(window === "sliding");
        for (const id of ENDPOINTS) {
          first.setEndpoint({ id, rpmLimit: 5, tpmLimit: 30 });
          model.limits.set(id, { rpm: 5, tpm: 30 });
        }
        const open: {
          by: RateManager;
          decision: RateDecision;
          at: number;
          of: [string, string | undefined, number];
        }[] = [];
        const handles = new Map<string, ReturnType<RateManager["handle"]>>();
        for (const it of steps) {
          const turn = (turns.next().value as number) % all.length;
          const manager = all[turn] as RateManager;
          const epochMs = epochStart + clock.now();
          if (it.kind === "check") {
            const name = `${turn} ${it.endpoint} ${it.key}`;
            const handle = handles.get(name) ?? manager.handle(it);
            handles.set(name, handle);
            const would = manager.peek(it);
            const decision = it.handle ? handle.check(it.tokens) : manager.check(it);
            const expected = model.check(it.endpoint, it.key, epochMs, it.tokens);
            expect(decision.allowed).toBe(expected === undefined);
            expect(would.allowed).toBe(decision.allowed);
            if (decision.reason === "rate") expect(decision.limitedBy).toBe(expected);
            expect(decision.windowStart).toBe(Math.floor(epochMs / WINDOW_MS) * WINDOW_MS);
            expect(decision.utilization).toBeGreaterThanOrEqual(0);
            expect(decision.utilization).toBeLessThanOrEqual(1);
            if (decision.allowed)
              open.push({
                by: manager,
                decision,
                at: epochMs,
                of: [it.endpoint, it.key && model.limits.has(it.key) ? it.key : undefined, it.tokens],
              });
          } else if (it.kind === "end" && open.length > 0) {
            const { by, decision, at, of } = open[it.which % open.length] as (typeof open)[0];
            const again = it.tokens;
            if (again === null) by.cancel(decision);
            else by.settle(decision, again);
            if (at === -1) continue;
            (open[it.which % open.length] as (typeof open)[0]).at = -1;
            if (Math.floor(at / WINDOW_MS) === Math.floor(epochMs / WINDOW_MS))
              model.add(of[0], of[1], epochMs, (again ?? 0) - of[2], again === null ? -1 : 0);
          } else if (it.kind === "wait") clock.advance(it.ms);
          else if (it.kind === "wall") clock.stepWallClock(it.ms);
          else if (it.kind === "share") first.share({ maxIds: 8 });
          else if (it.kind === "endpoint") {
            manager.setEndpoint({ id: it.id, rpmLimit: it.rpm, tpmLimit: it.tpm });
            model.limits.set(it.id, { rpm: it.rpm, tpm: it.tpm });
          } else if (it.kind === "key") {
            manager.setKey(it.id, { rpmLimit: it.rpm, tpmLimit: it.tpm });
            model.limits.set(it.id, { rpm: it.rpm, tpm: it.tpm });
          } else if (it.kind === "removeKey") {
            manager.removeKey(it.id);
            model.limits.delete(it.id);
          }
        }
        const now = Math.floor((epochStart + clock.now()) / WINDOW_MS);
        for (const { id, requests, tokens } of first.snapshot().endpoints)
          expect({ id, requests, tokens }).toMatchObject({
            id,
            requests: model.count(id, now).requests,
            tokens: model.count(id, now).tokens,
          });
      }),
      { numRuns: 300 },
    );
  });
});
