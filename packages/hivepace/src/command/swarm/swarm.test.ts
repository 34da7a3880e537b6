import type { ObservedResource, SwarmEvent } from "@hivepace/distributed";
import { expect, test } from "vitest";
import { eventLine } from "./describe-event.ts";
import { restMs } from "./listen.ts";
import { levelOf, showSnapshot } from "./show-snapshot.ts";
import { whyNotTaken } from "./why-not-taken.ts";

const live = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    agentId: `agent-${i}`,
    state: "live" as const,
    heardAgoMs: 10,
    upMs: 1_000,
    weight: 1,
    isServed: false,
  }));

test.each([
  ["nobody yet: six seconds, for idle agents speak every five", 0, 0, 6_000],
  ["all of whom the others know: a little over a heartbeat", 3, 3, 1_300],
  ["some are missing: six seconds", 2, 3, 6_000],
  ["a crowd speaks less often", 10, 2_000, 11_000],
])("how long to listen: %s", (_, heard, members, ms) => {
  expect(restMs({ observedMs: 100, members, agents: live(heard) })).toBe(ms - 100);
});

const eu: ObservedResource = {
  resource: "eu",
  windowMs: 60_000,
  limits: [
    { dimension: "requests", limit: 1_000, total: 500, used: 431, usedSince: 431, waiting: 12 },
    { dimension: "tokens", limit: Infinity, total: Infinity, used: 0, usedSince: 0, waiting: 0 },
  ],
  level: 0.5,
  cause: { agentId: "agent-3", reason: "429\x1b[2J", agoMs: 12_000 },
  pausedForMs: 0,
  risesInMs: 18_000,
  agents: [],
};

test("a resource is a row for each limit: what it is, what is left of it, who cut it and why", () => {
  const text = showSnapshot({
    bus: "ready",
    observedMs: 1_300,
    members: 3,
    agents: live(2),
    resources: [eu],
    keys: [],
    heard: 5,
    ignored: { unsigned: 2 },
  });
  const row = text.split("\n").find((line) => line.startsWith("eu"));
  expect(row?.replace(/ +/g, " ")).toBe(
    "eu 1,000 requests in 1 min 500 431 86 % 12 50 %, cut by agent-3 12 s ago: 429�[2J, rises in 18 s",
  );
  expect(text).not.toContain("tokens");
  expect(text).toMatch(/^2 agents, 3 according to the agents themselves/);
  expect(text).toContain("ignored messages: 2 × unsigned");
  expect(text).toContain("agent-1");
});

test("a whole level says nothing of cuts of long ago; a pause is told", () => {
  expect(levelOf({ ...eu, level: 1, risesInMs: undefined })).toBe("100 %");
  expect(levelOf({ ...eu, pausedForMs: 2_500 })).toContain("all pause for 2.5 s");
});

const at = new Date(Date.UTC(2030, 0, 1, 12, 0, 1, 250));
const cut = { type: "cut", resource: "eu", agentId: "a", reason: "429", level: 0.5, newCapacity: 500 } as const;
test.each<[SwarmEvent, string]>([
  [cut, "12:00:01.250 cut to 500 (50 %) eu a 429"],
  [{ type: "joined", agentId: "a\nb" }, "12:00:01.250 joined a�b"],
  [{ ...cut, type: "paused", pausedForMs: 1_500 }, "12:00:01.250 pause of 1.5 s eu a 429"],
  [{ type: "raised", resource: "eu", level: 0.55, newCapacity: 550 }, "12:00:01.250 raised to 550 (55 %) eu recovery"],
  [
    { type: "raised", resource: "eu", level: 1, newCapacity: 1_000 },
    "12:00:01.250 raised to 1,000 (100 %) eu whole again",
  ],
  [
    { type: "announced", update: { resource: "eu", agentId: "go", newCapacity: 7, reason: "r", timestamp: at } },
    "12:00:01.250 announced 7 eu go r",
  ],
  [{ type: "bus", state: "interrupted" }, "12:00:01.250 bus interrupted"],
])("an event is one line with its time, what, of what, who and why (case %#)", (event, line) => {
  expect(eventLine(event, at).replace(/ +/g, " ")).toBe(line);
});

test("why an announcement was not taken", () => {
  expect(whyNotTaken("eu", 100, eu, false)).toContain("nobody was heard");
  expect(whyNotTaken("eu", 100, undefined, true)).toContain("Do they have it?");
  expect(whyNotTaken("eu", 500, eu, true)).toContain("no less than the 500");
  expect(whyNotTaken("eu", 100, eu, true)).toContain("too closely. agent-3 cut it 12 s ago");
  expect(whyNotTaken("eu", 100, { ...eu, cause: undefined, level: 1 }, true)).toContain("HIVEPACE_SECRET");
});
