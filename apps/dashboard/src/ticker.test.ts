import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { agent, PretendObserver } from "../test/support/pretend-observer.ts";
import { EventLog } from "./event-log.ts";
import { FanOut } from "./fan-out.ts";
import { History } from "./history.ts";
import { settingsOf } from "./options.ts";
import { Ticker } from "./ticker.ts";

function setUp() {
  const [clock, observer, history] = [new ManualClock(), new PretendObserver(), new History()];
  let looks = 0;
  const snapshot = observer.snapshot.bind(observer);
  observer.snapshot = () => {
    looks++;
    return snapshot();
  };
  const pages = new FanOut(history, new EventLog());
  const ticker = new Ticker(settingsOf({ observer, clock }), history, pages);
  const written: string[] = [];
  const open = () => {
    const stream = { writableLength: 0, write: (text: string) => written.push(text) > 0, destroy: () => {} };
    pages.add(stream, {} as never, ticker.read());
  };
  return { clock, observer, history, ticker, written, open, looks: () => looks };
}

test("without a page the swarm is read once a second, and one point is kept per second", () => {
  const { clock, history, looks } = setUp();
  clock.advance(10_000);
  expect([history.lastSeq, looks()]).toEqual([11, 11]);
});

test("a page is updated twice a second, whatever the swarm does", () => {
  const { clock, observer, written, open } = setUp();
  open();
  for (let i = 0; i < 100; i++) {
    observer.emit({ type: "joined", agentId: "a" });
    clock.advance(100);
  }
  expect(written).toHaveLength(1 + 20);
});

test("long updates are sent less often", () => {
  const { clock, observer, history, written, open } = setUp();
  observer.now = { ...observer.now, agents: Array.from({ length: 10_000 }, (_, i) => agent(`agent-${i}`)) };
  open();
  clock.advance(10_000);
  expect(written.length).toBeGreaterThan(3);
  expect(written.length).toBeLessThan(9);
  expect(history.lastSeq).toBe(11);
});

test("after a suspended process resumes, points continue at one per second", () => {
  const { clock, history } = setUp();
  clock.jump(60_000);
  clock.advance(3_000);
  expect(history.lastSeq).toBeGreaterThanOrEqual(4);
  expect(history.lastSeq).toBeLessThanOrEqual(5);
});

test("a stopped ticker reads nothing more and leaves no timer", () => {
  const { clock, ticker, looks } = setUp();
  ticker.stop();
  const before = looks();
  clock.advance(10_000);
  expect([looks(), clock.pending]).toEqual([before, 0]);
});
