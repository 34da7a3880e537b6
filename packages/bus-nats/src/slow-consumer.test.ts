import { ManualClock } from "@hivepace/core/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SlowConsumerWatch } from "./slow-consumer.ts";

const clock = new ManualClock();
let turns: (() => void)[];
let watch: SlowConsumerWatch;
const reports = () => vi.mocked(process.emitWarning).mock.calls.map(([message]) => String(message));

beforeEach(() => {
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  turns = [];
  watch = new SlowConsumerWatch(clock, (callback) => turns.push(callback));
});

afterEach(() => vi.restoreAllMocks());

function handle(messages: number, eachMs: number): void {
  for (let i = 0; i < messages; i++) {
    watch.message();
    clock.advance(eachMs);
  }
}

const endTurn = () => turns.splice(0).forEach((callback) => void callback());

test("handlers that keep up are not reported, no matter how many messages arrive", () => {
  for (let i = 0; i < 10; i++) {
    handle(900, 1);
    endTurn();
  }
  watch.dropped();
  expect(reports()).toEqual([]);
});

test("slow handlers are reported once per burst, and again after a quiet period", () => {
  for (let i = 0; i < 5; i++) {
    handle(3, 500);
    endTurn();
  }
  expect(reports()).toHaveLength(1);
  expect(reports()[0]).toMatch(/took 1500 ms for 3 messages/);
  expect(vi.mocked(process.emitWarning).mock.calls[0]?.[1]).toMatchObject({ code: "HIVEPACE_BUS_SLOW_CONSUMER" });
  clock.advance(31_000);
  handle(1, 2_000);
  endTurn();
  expect(reports()).toHaveLength(2);
});

test("a connection that breaks during a slow burst is reported once, even within the same turn", () => {
  handle(1, 2_000);
  watch.dropped();
  watch.dropped();
  endTurn();
  expect(reports()).toEqual([expect.stringContaining("took 2000 ms"), expect.stringContaining("messages are lost")]);
});

test("a connection that breaks long after a slow burst is not attributed to it", () => {
  handle(1, 2_000);
  endTurn();
  clock.advance(31_000);
  watch.dropped();
  expect(reports()).toHaveLength(1);
});
