import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KINDS, MINUTE, START } from "./test-managers.ts";

describe.each(KINDS)("rate manager, %s: windows", (_, open) => {
  test.each([MINUTE * 60, -MINUTE * 60, 12_345, -1])("a wall clock that steps by %d ms moves no window", (step) => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    const { windowStart } = manager.check({ endpoint: "eu", tokens: 1 });
    clock.stepWallClock(step);
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({
      allowed: false,
      retryAfterMs: MINUTE / 2,
      windowStart,
    });
    clock.advance(MINUTE / 2);
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({
      allowed: true,
      windowStart: windowStart + MINUTE,
    });
  });

  test("a monotonic clock that jumps back frees no capacity", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    manager.setKey("acme", { rpmLimit: 10 });
    clock.advance(MINUTE);
    manager.check({ endpoint: "eu", tokens: 1 });
    clock.jump(-MINUTE);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({
      allowed: false,
      retryAfterMs: MINUTE * 1.5,
    });
    clock.advance(MINUTE * 1.5);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 }).allowed).toBe(true);
  });

  test("twice the limit can pass at the edge of a fixed window, but not of a sliding one", () => {
    const around = (window: "fixed" | "sliding"): number => {
      const { manager, clock } = open({ window });
      manager.setEndpoint({ id: "eu", rpmLimit: 100 });
      clock.advance(MINUTE / 2 - 1);
      let allowed = 0;
      for (let i = 0; i < 200; i++) if (manager.check({ endpoint: "eu", tokens: 1 }).allowed) allowed++;
      clock.advance(2);
      for (let i = 0; i < 200; i++) if (manager.check({ endpoint: "eu", tokens: 1 }).allowed) allowed++;
      return allowed;
    };
    expect(around("fixed")).toBe(200);
    expect(around("sliding")).toBeLessThanOrEqual(101);
  });

  test.each(["fixed", "sliding"] as const)(
    "a denied request is allowed after retryAfterMs and not before: %s windows",
    (window) => {
      for (const [first, second, gap] of [
        [1000, 1000, 100],
        [800, 300, 31_000],
        [900, 900, 45_000],
        [500, 800, 1_000],
        [1000, 1, 59_999],
      ] as const) {
        const { manager, clock } = open({ window });
        manager.setEndpoint({ id: "eu", tpmLimit: 1000 });
        manager.setKey("acme", { tpmLimit: 1100 });
        const ask = (tokens: number) => manager.check({ endpoint: "eu", key: "acme", tokens });
        ask(first);
        clock.advance(gap);
        const denied = manager.peek({ endpoint: "eu", key: "acme", tokens: second });
        if (denied.allowed) continue;
        const wait = denied.retryAfterMs as number;
        expect(Number.isInteger(wait)).toBe(true);
        clock.advance(wait - 1);
        expect(ask(second).allowed).toBe(false);
        clock.advance(1);
        expect(ask(second)).toMatchObject({ allowed: true });
      }
    },
  );

  test("rephase aligns windows with another clock at its next edge and counts no window twice", () => {
    for (const ahead of [-20_000, 20_000, 45_000, -3_600_000 + 10_000, 3_600_000 * 24 + 59_000]) {
      const { manager, clock } = open();
      manager.setEndpoint({ id: "eu", rpmLimit: 1 });
      const offset = START + ahead - clock.now();
      expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
      manager.rephase(clock.now() + offset);
      manager.rephase(clock.now() + offset);
      const granted: number[] = [];
      for (let ms = 0; ms < 5 * MINUTE; ms += 500) {
        if (manager.check({ endpoint: "eu", tokens: 1 }).allowed) granted.push(clock.now() + offset);
        clock.advance(500);
      }
      // From the next edge of the other clock on, one request is granted in each of its windows, at its edge.
      expect(granted.map((at) => at % MINUTE)).toEqual(granted.map(() => 0));
      expect(granted.length).toBeGreaterThanOrEqual(4);
      for (const [i, at] of granted.entries()) if (i > 0) expect(at - (granted[i - 1] as number)).toBe(MINUTE);
    }
  });

  test("rephase ends the present window within one window, at the other clock's edge, for any distance of the clocks", () => {
    fc.assert(
      fc.property(fc.integer({ min: -200_000, max: 200_000 }), fc.integer({ min: 0, max: MINUTE - 1 }), (ahead, ms) => {
        const { manager, clock } = open();
        manager.setEndpoint({ id: "eu", rpmLimit: 1 });
        clock.advance(ms);
        const other = () => clock.epochMs() + ahead;
        manager.rephase(other());
        const { remainingMs } = manager.snapshot();
        expect(remainingMs).toBeGreaterThan(0);
        expect(remainingMs).toBeLessThanOrEqual(MINUTE * 1.05);
        // The other clock's edge has just passed and ours is about to come: ours is kept, and the next call shifts.
        if ((other() + remainingMs) % MINUTE > 0) {
          expect(remainingMs).toBeLessThan(MINUTE / 20);
          clock.advance(remainingMs);
          manager.rephase(other());
        }
        expect((other() + manager.snapshot().remainingMs) % MINUTE).toBe(0);
      }),
    );
  });

  test("rephase to a slightly different clock changes a window's length only by the difference, anywhere in a window", () => {
    const anywhere = fc.integer({ min: 0, max: MINUTE - 1 });
    const closeToAnEdge = fc.integer({ min: MINUTE / 2 - 3_000, max: MINUTE / 2 });
    fc.assert(
      fc.property(fc.integer({ min: -3_000, max: 3_000 }), fc.oneof(anywhere, closeToAnEdge), (ahead, ms) => {
        const { manager, clock } = open();
        manager.setEndpoint({ id: "eu", rpmLimit: 1 });
        const edges: number[] = [clock.now() - MINUTE / 2];
        let windowStart = manager.snapshot().windowStart;
        let endsAt = clock.now() + manager.snapshot().remainingMs;
        const look = () => {
          const seen = manager.snapshot();
          // A shift changes the displayed start of the present window by less than a window.
          if (seen.windowStart - windowStart > MINUTE / 2) edges.push(endsAt);
          windowStart = seen.windowStart;
          endsAt = clock.now() + seen.remainingMs;
        };
        clock.advance(ms);
        for (let i = 0; i < 150; i++) {
          look();
          manager.rephase(clock.epochMs() + ahead);
          look();
          clock.advance(2_000);
        }
        expect(edges.length).toBeGreaterThanOrEqual(5);
        const lengths = edges.slice(1).map((at, i) => at - (edges[i] as number));
        for (const length of lengths) expect(Math.abs(length - MINUTE)).toBeLessThanOrEqual(Math.abs(ahead));
        expect((clock.epochMs() + ahead + manager.snapshot().remainingMs) % MINUTE).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  test("a window that began slightly early continues past the other clock's edge until that clock's next edge", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    clock.advance(MINUTE / 2);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    manager.rephase(clock.epochMs() - 1_000);
    expect(manager.snapshot().remainingMs).toBe(MINUTE + 1_000);
    clock.advance(MINUTE + 999);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
    clock.advance(1);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("a clock that drifts for years shifts the windows slightly each time and never by a whole window", () => {
    const day = 86_400_000;
    const { manager, clock } = open({ windowMs: day });
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    let [behind, longest] = [0, 0];
    for (let i = 0; i < 1_000; i++) {
      behind += 30;
      manager.rephase(clock.epochMs() - behind);
      longest = Math.max(longest, manager.snapshot().remainingMs);
      clock.advance(day);
    }
    expect(longest).toBeLessThanOrEqual(day + 30);
    expect((clock.epochMs() - behind + manager.snapshot().remainingMs) % day).toBe(0);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    clock.advance(manager.snapshot().remainingMs);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
  });
});
