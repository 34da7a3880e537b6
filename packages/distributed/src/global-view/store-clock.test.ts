import fc from "fast-check";
import { expect, test } from "vitest";
import { StoreClock } from "./store-clock.ts";

test("the time is unknown before the first reply, and then that of the middle of the round trip", () => {
  const clock = new StoreClock();
  expect(clock.at(0)).toBeUndefined();
  clock.receive(1_000_000, 10, 30);
  expect(clock.at(20)).toBe(1_000_000);
  expect(clock.at(520)).toBe(1_000_500);
});

test("a reply that does not contradict the clock moves nothing; another one moves it as little as possible", () => {
  const clock = new StoreClock();
  clock.receive(1_000_000, 10, 30);
  clock.receive(1_001_000, 900, 1_200);
  expect(clock.at(20)).toBe(1_000_000);
  // The store's clock was set forward by a minute.
  clock.receive(1_062_000, 2_000, 2_010);
  expect(clock.at(2_010)).toBe(1_062_000);
});

test("for any round trips, the error is at most half of the quickest one", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(500), fc.nat(500)), { minLength: 1 }), (answers) => {
      const clock = new StoreClock();
      const offset = 1_234_567;
      let now = 0;
      for (const [there, back] of answers) {
        clock.receive(now + there + offset, now, now + there + back);
        now += 1_000 + there + back;
      }
      const quickest = Math.min(...answers.map(([there, back]) => there + back));
      expect(Math.abs((clock.at(now) ?? 0) - offset - now)).toBeLessThanOrEqual(quickest);
    }),
  );
});
