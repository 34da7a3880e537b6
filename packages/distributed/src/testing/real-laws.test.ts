import { expect, test } from "vitest";
import { AgentClock } from "./agent-clock.ts";
import { endpointsOf } from "./endpoints.ts";
import { LocalTime } from "./local-time.ts";
import { RealLaws } from "./real-laws.ts";
import { Timeline } from "./timeline.ts";
import type { Call } from "./world.ts";

const MINUTE = 60_000;
const limits = { requests: 10, tokens: 1_000 };

function laws(isDisturbed = false): RealLaws {
  const options = { seed: 1, agents: 1, limits, demand: { load: 1 }, duration: 1 };
  return new RealLaws({ endpoints: endpointsOf(options), windowMs: MINUTE, drift: 0, isDisturbed });
}

function clock(): AgentClock {
  return new AgentClock(new Timeline(), new LocalTime(0, 1), { epochOffsetMs: 0.5 });
}

function call(tokens: number, actual = tokens): Call {
  const more = { endpoint: undefined, key: undefined, givesUpAt: Infinity, sentTo: 0, sentAt: 0, tries: 0 };
  const both = { expected: tokens, actual };
  return { agent: 0, arrivedAt: 0, expected: [1, tokens], actual: [1, actual], tokens: both, ...more };
}

test("usage above a limit in a window breaks a law, unless agents could not receive each other's messages", () => {
  for (const [isDisturbed, fault] of [
    [false, undefined],
    [true, undefined],
    [false, "bus-down"],
    [false, "provider"],
  ] as const) {
    const subject = laws(isDisturbed);
    if (fault === "bus-down") subject.disturbed({ at: 0, type: "bus-down", forMs: 1 });
    if (fault === "provider") subject.disturbed({ at: 0, type: "provider", factor: 1, forMs: 1 });
    for (let i = 0; i < 3; i++) subject.granted(call(400), i);
    if (isDisturbed || fault === "bus-down") subject.check();
    else expect(() => subject.check()).toThrowError(/1200 were granted .* 1000 are allowed/);
  }
});

test("refunds and usage older than a window do not count", () => {
  const subject = laws();
  const [first, second] = [call(800, 100), call(800)];
  subject.granted(first, 0);
  subject.ended(first, true);
  subject.granted(second, 1_000);
  subject.ended(second, false);
  subject.granted(call(900), 2_000);
  subject.granted(call(1_000), MINUTE + 2_000);
  subject.check();
});

test("usage above the estimate breaks no law", () => {
  const subject = laws();
  const one = call(100, 5_000);
  subject.granted(one, 0);
  subject.ended(one, true);
  subject.granted(call(900), 1);
  subject.check();
});

test("an acquire that does not settle, a grant that does not end and a grant that ends twice break laws", () => {
  const waiting = laws();
  waiting.asked();
  expect(() => waiting.checkEnd()).toThrowError("every acquire settles");
  const open = laws();
  open.granted(call(1), 0);
  expect(() => open.checkEnd()).toThrowError("every grant ends");
  const twice = laws();
  const one = call(1);
  twice.granted(one, 0);
  twice.ended(one, true);
  twice.ended(one, true);
  expect(() => twice.check()).toThrowError("a call ends once");
});

test("waits and grants of a crashed process are lost and break nothing", () => {
  const subject = laws();
  const one = call(1);
  subject.granted(one, 0);
  subject.asked();
  subject.crashed(clock(), [one], 1);
  subject.checkEnd();
});

test("an agent that is closed and leaves a timer, or does not end its close, breaks a law", async () => {
  const left = laws();
  const armed = clock();
  armed.after(1_000, () => {});
  left.closing("a", armed, [], Promise.resolve());
  await Promise.resolve();
  expect(() => left.checkEnd()).toThrowError("a: an agent that is closed leaves no timer, 1 are armed");
  const stuck = laws();
  stuck.closing("b", clock(), [], new Promise(() => {}));
  expect(() => stuck.checkEnd()).toThrowError("every close settles: b did not");
});
