import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryLimiter } from "./memory-limiter.ts";
import { ManualClock } from "./testing/manual-clock.ts";

/**
 * A reference model that is slow and obviously correct: it advances from event to event and re-evaluates the whole
 * state at each. Capacities and windows are powers of two, so that neither the model nor the limiter rounds.
 */
class Model {
  now = 0;
  capacity: number;
  windowMs: number;
  tokens: number;
  inFlight = 0;
  line: { id: number; cost: number; rank: number; deadline: number }[] = [];
  ended: Record<number, string> = {};

  constructor(capacity: number, windowMs: number) {
    this.capacity = capacity;
    this.windowMs = windowMs;
    this.tokens = capacity;
  }

  advance(ms: number) {
    const end = this.now + ms;
    for (;;) {
      const head = this.line[0];
      const ready = head ? this.now + ((head.cost - this.tokens) * this.windowMs) / this.capacity : Infinity;
      const next = Math.min(end, ready, ...this.line.map((w) => w.deadline));
      this.tokens = Math.min(this.capacity, this.tokens + ((next - this.now) * this.capacity) / this.windowMs);
      this.now = next;
      this.serve();
      if (next === end) return;
    }
  }

  serve() {
    for (let head = this.line[0]; head && head.cost <= this.tokens; head = this.line[0]) {
      this.tokens -= head.cost;
      this.inFlight++;
      this.end(head.id, `granted at ${this.now}`);
    }
    // Expires one waiter at a time: its removal may admit the next one, even at that waiter's own deadline.
    const late = this.line.find((w) => w.deadline <= this.now);
    if (!late) return;
    this.end(late.id, `timeout at ${this.now}`);
    this.serve();
  }

  end(id: number, outcome: string) {
    this.line = this.line.filter((w) => w.id !== id);
    this.ended[id] = outcome;
  }

  tryAcquire(cost: number) {
    if (this.line.length > 0 || cost > this.tokens) return false;
    this.tokens -= cost;
    this.inFlight++;
    return true;
  }

  acquire(id: number, cost: number, timeoutMs: number, priority: number) {
    if (cost > this.capacity) this.ended[id] = `too-large at ${this.now}`;
    else if (this.tryAcquire(cost)) this.ended[id] = `granted at ${this.now}`;
    else if (timeoutMs === 0) this.ended[id] = `timeout at ${this.now}`;
    else {
      this.line.push({ id, cost, rank: this.now - priority * 1_000, deadline: this.now + timeoutMs });
      this.line.sort((a, b) => a.rank - b.rank || a.id - b.id);
      this.serve();
    }
  }

  abort(id: number) {
    if (this.ended[id]) return;
    this.end(id, `aborted at ${this.now}`);
    this.serve();
  }

  release(cost: number) {
    if (this.inFlight === 0) return;
    this.inFlight--;
    this.tokens = Math.min(this.capacity, this.tokens + cost);
    this.serve();
  }

  resize(capacity: number, windowMs: number) {
    this.tokens += capacity - this.capacity;
    this.capacity = capacity;
    this.windowMs = windowMs;
    for (const large of this.line.filter((w) => w.cost > capacity)) this.end(large.id, `too-large at ${this.now}`);
    this.serve();
  }
}

const capacities = fc.constantFrom(1, 2, 4, 8, 16);
const windows = fc.constantFrom(64, 256, 1_024);
const costs = fc.integer({ min: 1, max: 9 });
const timeouts = fc.constantFrom(Infinity, Infinity, 0, 10, 64, 300);
const operations = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat(400) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("acquire" as const),
      cost: costs,
      timeoutMs: timeouts,
      priority: fc.constantFrom(0, 0, 0, 1, -1, 0.125),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("tryAcquire" as const), cost: costs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abort" as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const), cost: costs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("resize" as const), capacity: capacities, windowMs: windows }) },
);

test("any sequence of operations ends as in the model: no grant is early, and no waiter that fits is kept waiting", async () => {
  await fc.assert(
    fc.asyncProperty(
      capacities,
      windows,
      fc.array(operations, { maxLength: 40 }),
      async (capacity, windowMs, steps) => {
        const clock = new ManualClock();
        const limiter = new MemoryLimiter({ clock });
        const model = new Model(capacity, windowMs);
        limiter.setCapacity("api", capacity, windowMs);
        const ended: Record<number, string> = {};
        const controllers: AbortController[] = [];

        for (const step of steps) {
          if (step.do === "advance") {
            await clock.run(step.ms);
            model.advance(step.ms);
          } else if (step.do === "acquire") {
            const id = controllers.length;
            const controller = new AbortController();
            controllers.push(controller);
            const { cost, timeoutMs, priority } = step;
            const note = (outcome: string) => {
              ended[id] = `${outcome} at ${clock.now()}`;
            };
            limiter.acquire("api", { cost, timeoutMs, priority, signal: controller.signal }).then(
              () => note("granted"),
              (error) => note(error.reason ?? error),
            );
            model.acquire(id, cost, timeoutMs, priority);
          } else if (step.do === "tryAcquire") {
            expect(limiter.tryAcquire("api", step.cost)).toBe(model.tryAcquire(step.cost));
          } else if (step.do === "abort") {
            controllers[step.which]?.abort("aborted");
            if (step.which < controllers.length) model.abort(step.which);
          } else if (step.do === "release") {
            limiter.release("api", step.cost);
            model.release(step.cost);
          } else {
            limiter.setCapacity("api", step.capacity, step.windowMs);
            model.resize(step.capacity, step.windowMs);
          }
          await clock.run(0);
          expect(ended).toEqual(model.ended);
          expect(limiter.getCapacity("api")).toEqual({
            resource: "api",
            available: Math.max(0, Math.floor(model.tokens)),
            total: model.capacity,
            windowMs: model.windowMs,
            inFlight: model.inFlight,
          });
          expect(clock.pending).toBe(model.line.length > 0 ? 1 : 0);
        }
        await limiter.close();
        expect(clock.pending).toBe(0);
      },
    ),
    { numRuns: 400 },
  );
});

test("the grants of any interval are at most the burst plus the refill, for any sequence of calls", async () => {
  const asks = fc.array(
    fc.record({ pauseMs: fc.double({ min: 0, max: 900, noNaN: true }), cost: costs, waits: fc.boolean() }),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 9, max: 70 }),
      fc.integer({ min: 7, max: 9_999 }),
      fc.integer({ min: 9, max: 30 }),
      asks,
      async (capacity, windowMs, burst, steps) => {
        const clock = new ManualClock();
        const limiter = new MemoryLimiter({ clock });
        limiter.setCapacity("api", capacity, windowMs, { burst });
        const log: { at: number; cost: number }[] = [];
        for (const { pauseMs, cost, waits } of steps) {
          const note = () => log.push({ at: clock.now(), cost });
          if (waits) limiter.acquire("api", { cost }).then(note, () => {});
          else if (limiter.tryAcquire("api", cost)) note();
          await clock.run(pauseMs);
        }
        await limiter.close();
        log.forEach((first, from) => {
          let sum = 0;
          for (const { at, cost } of log.slice(from)) {
            sum += cost;
            expect(sum).toBeLessThanOrEqual(burst + (capacity * (at - first.at)) / windowMs + 1e-6);
          }
        });
      },
    ),
  );
});
