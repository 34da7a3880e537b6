import type { ObservedLimit, ObservedResource, SwarmEvent } from "@hivepace/distributed";
import { expect, test } from "vitest";
import { eventLine } from "./describe-event.ts";
import { restMs } from "./listen.ts";
import { levelOf, showSnapshot } from "./show-snapshot.ts";
import { whyNotTaken } from "./why-not-taken.ts";

const live = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    agentId: `agent-${i}`,
    state: "live" as const,
    lastMessageAgoMs: 10,
    upMs: 1_000,
    weight: 1,
    isAllocated: false,
  }));

test.each([
  ["no agent yet: six seconds, because idle agents publish every five", 0, 0, 6_000],
  ["all known agents: a little over a heartbeat", 3, 3, 1_300],
  ["some agents are missing: six seconds", 2, 3, 6_000],
  ["a large swarm publishes less often", 10, 2_000, 11_000],
])("the listening time depends on the agents received: %s", (_, heard, members, ms) => {
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

test("a resource has one row for each limit, with its capacity and the cause of a cut", () => {
  const text = showSnapshot({
    bus: "ready",
    observedMs: 1_300,
    members: 3,
    agents: live(2),
    resources: [eu],
    keys: [],
    availability: [
      {
        resource: "eu",
        model: undefined,
        state: "parked",
        agentId: "operator",
        reason: "maintenance",
        sinceMs: 5_000,
        retryAfterMs: 60_000,
      },
    ],
    received: 5,
    ignored: { unsigned: 2 },
  });
  const row = text.split("\n").find((line) => line.startsWith("eu"));
  expect(row?.replace(/ +/g, " ")).toBe(
    "eu 1,000 requests in 1 min 500 431 86 % 12 50 %, cut by agent-3 12 s ago: 429�[2J, rises in 18 s",
  );
  expect(text.replace(/ +/g, " ")).toContain("eu all parked 5 s 1 min operator maintenance");
  expect(text).not.toContain("tokens");
  expect(text).toMatch(/^2 agents, 3 according to the agents/);
  expect(text).toContain("ignored messages: 2 × unsigned");
  expect(text).toContain("agent-1");
});

test("usage, share and queue of each agent are those of the binding dimension", () => {
  const use = (agentId: string, used: number, waiting: number) =>
    ({
      agentId,
      used: [1, used],
      share: [250, 5_000],
      waiting: [0, waiting],
      waitedMs: waiting > 0 ? 2_500 : 0,
      heldMs: 0,
    }) as const;
  const tokens = {
    dimension: "tokens",
    limit: 20_000,
    total: 10_000,
    used: 9_000,
    usedSince: 9_000,
    waiting: 40,
  } as const;
  const text = showSnapshot({
    bus: "ready",
    observedMs: 1_300,
    members: 2,
    agents: live(2),
    resources: [
      { ...eu, limits: [eu.limits[0] as ObservedLimit, tokens], agents: [use("a", 6_000, 40), use("b\n", 3_000, 0)] },
    ],
    keys: [],
    availability: [],
    received: 5,
    ignored: {},
  });
  const rows = text.split("\n").map((line) => line.replace(/ +/g, " ").trim());
  expect(rows).toContain("RESOURCE AGENT USED SHARE QUEUE OF QUEUE FOR");
  expect(rows).toContain("eu a 6,000 5,000 40 tokens in 1 min 2.5 s");
  expect(rows).toContain("b� 3,000 5,000 0 tokens in 1 min");
});

test("slots are calls under way, and the age of each agent's oldest call is printed", () => {
  const use = (agentId: string, used: number, heldMs: number) =>
    ({ agentId, used: [used], share: [2], waiting: [0], waitedMs: 0, heldMs }) as const;
  const text = showSnapshot({
    bus: "ready",
    observedMs: 1_300,
    members: 2,
    agents: live(2),
    resources: [
      {
        ...eu,
        level: 1,
        resource: "eu@in-flight",
        windowMs: 0,
        limits: [{ dimension: "inFlight", limit: 40, total: 4, used: 3, usedSince: 70, waiting: 0 }],
        agents: [use("a", 1, 312_000), use("b", 2, 1_000)],
      },
    ],
    keys: [],
    availability: [],
    received: 5,
    ignored: {},
  });
  const rows = text.split("\n").map((line) => line.replace(/ +/g, " ").trim());
  expect(rows).toContain("eu@in-flight 40 calls under way 4 3 75 % 0 100 %");
  expect(rows).toContain("RESOURCE AGENT USED SHARE QUEUE OF QUEUE FOR OLDEST CALL");
  expect(rows).toContain("eu@in-flight a 1 2 0 calls under way 5.2 min");
});

test("tenant keys have their own table of bounded size, ordered by utilization", () => {
  const key = (i: number): ObservedResource => ({
    ...eu,
    resource: `tenant-${i}`,
    limits: [{ dimension: "requests", limit: 100, total: 100, used: i, usedSince: i, waiting: 0 }],
  });
  const keys = Array.from({ length: 30 }, (_, i) => key(i));
  const text = showSnapshot({
    bus: "ready",
    observedMs: 1,
    members: 1,
    agents: live(1),
    resources: [],
    keys,
    availability: [],
    received: 1,
    ignored: {},
  });
  expect(text).toMatch(/^KEY .*\ntenant-29 /m);
  expect(text).not.toContain("tenant-9 ");
  expect(text).toContain("and 10 keys that use less of their limits");
});

test("an absent limit is not printed as a number, in tables and in lines", () => {
  const limits = [{ dimension: undefined, limit: Infinity, total: Infinity, used: 12, usedSince: 12, waiting: 0 }];
  const free = {
    ...eu,
    level: 1,
    limits,
    agents: [{ agentId: "a", used: [12], share: [Infinity], waiting: [0], waitedMs: 0, heldMs: 0 }],
  };
  const text = showSnapshot({
    bus: "ready",
    observedMs: 1,
    members: 1,
    agents: live(1),
    resources: [free],
    keys: [],
    availability: [],
    received: 1,
    ignored: {},
  });
  expect(text).toContain("no limit");
  expect(text).not.toMatch(/∞|Infinity|NaN|-1|1e\+?1/);
  for (const newCapacity of [Infinity, 1e12])
    expect(eventLine({ type: "raised", resource: "eu", level: 0.55, newCapacity }, at)).toContain("raised to 55 %");
});

test("a full level omits past cuts, and a pause is shown", () => {
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
    "12:00:01.250 raised to 1,000 (100 %) eu recovered",
  ],
  [
    { type: "announced", update: { resource: "eu", agentId: "go", newCapacity: 7, reason: "r", timestamp: at } },
    "12:00:01.250 announced 7 eu go r",
  ],
  [
    {
      type: "availability",
      resource: "eu",
      model: "big",
      state: "parked",
      cause: "quota",
      agentId: "a",
      reason: "429",
      retryAfterMs: 60_000,
    },
    "12:00:01.250 parked for 1 min eu/big a 429",
  ],
  [{ type: "bus", state: "interrupted" }, "12:00:01.250 bus interrupted"],
])("an event is one line with time, action, resource, agent and reason (case %#)", (event, line) => {
  expect(eventLine(event, at).replace(/ +/g, " ")).toBe(line);
});

test("an announcement without effect is explained", () => {
  expect(whyNotTaken("eu", 100, eu, false)).toContain("no agent was heard");
  expect(whyNotTaken("eu", 100, undefined, true)).toContain("configured");
  expect(whyNotTaken("eu", 500, eu, true)).toContain("not below the 500");
  expect(whyNotTaken("eu", 100, eu, true)).toContain("too closely. agent-3 cut it 12 s ago");
  expect(whyNotTaken("eu", 100, { ...eu, cause: undefined, level: 1 }, true)).toContain("HIVEPACE_SECRET");
});
