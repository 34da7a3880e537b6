import type { ObservedAgent, SwarmSnapshot } from "@hivepace/distributed";
import { bytes } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { connectAdvice } from "./advice.ts";
import { Findings } from "./findings.ts";
import { surveyOf } from "./survey.ts";
import { checkAgents, checkIgnored, checkSurvey, checkTimestamps } from "./swarm-check.ts";
import { checkRuntime, versionOf } from "./versions.ts";

const plain = (_: string, text: string) => text;
const found = (check: (findings: Findings) => void) => {
  const findings = new Findings(undefined, plain);
  check(findings);
  return findings.all.map(
    ({ state, text, advice }) => `${state}: ${text}${advice === undefined ? "" : ` → ${advice}`}`,
  );
};
const agent = (agentId: string, state: ObservedAgent["state"] = "live"): ObservedAgent => ({
  agentId,
  state,
  lastMessageAgoMs: 100,
  upMs: 5_000,
  weight: 1,
  isAllocated: false,
});
const snapshot = (more: Partial<SwarmSnapshot> = {}): SwarmSnapshot => ({
  bus: "ready",
  observedMs: 6_000,
  members: 0,
  agents: [],
  resources: [],
  availability: [],
  keys: [],
  received: 0,
  ignored: {},
  ...more,
});
const expected = { agents: 1, namespace: "prod", elsewhere: [] };
const presence = (agent_id: string, life: number, limits: number[], window_ms = 60_000) =>
  bytes(JSON.stringify({ v: 1, agent_id, life, seq: 1, pools: [{ resource: "eu", window_ms, limits }] }));

test("enough agents are fine; fewer agents, or none, are wrong and come with advice", () => {
  const two = snapshot({ members: 2, agents: [agent("a"), agent("b")] });
  expect(found((f) => checkAgents(f, two, expected))).toEqual(["ok: 2 agents: a, b"]);
  expect(found((f) => checkAgents(f, two, { ...expected, agents: 3 }))[0]).toMatch(/^wrong: 2 agents.*3 expected/);
  expect(found((f) => checkAgents(f, snapshot(), expected))[0]).toMatch(
    /^wrong: no agent was heard in 6 s → .*--expect 0/,
  );
  expect(found((f) => checkAgents(f, snapshot(), { ...expected, agents: 0 }))[0]).toMatch(/^ok: no agent/);
});

test("agents in store mode count although they rarely report, and a silent agent is a note", () => {
  const served = snapshot({ members: 900, agents: [agent("a"), agent("b", "silent")] });
  expect(found((f) => checkAgents(f, served, { ...expected, agents: 900 }))).toEqual([
    "ok: 900 agents: a",
    expect.stringMatching(/^note: b has been silent/),
  ]);
});

test("other namespaces with agents are named", () => {
  const [text] = found((f) => checkAgents(f, snapshot(), { ...expected, elsewhere: ["staging", ""] }));
  expect(text).toContain('--namespace staging, or ""');
});

test.each([
  ["unsigned", /same secret, or none/],
  ["forged", /another secret than HIVEPACE_SECRET/],
  ["newer version", /update hivepace/],
  ["no JSON", /other publishers/],
])("messages ignored as %s are wrong and come with advice", (reason, advice) => {
  const [text] = found((f) => checkIgnored(f, snapshot({ ignored: { [reason]: 3 }, received: 2 })));
  expect(text).toMatch(/^wrong: 3 ignored/);
  expect(text).toMatch(advice);
});

test("messages that every swarm ignores are not reported", () => {
  expect(found((f) => checkIgnored(f, snapshot({ ignored: { stale: 3, replayed: 1 }, received: 2 })))).toEqual([
    "ok: 2 received, all understood",
  ]);
});

test("agents with different limits or windows are reported", () => {
  const same = surveyOf([presence("a", 1, [10, 20]), presence("b", 1, [10, 20])]);
  expect(found((f) => checkSurvey(f, same, true))).toEqual([
    expect.stringMatching(
      /^ok: all agents have the same limits for the endpoints in use; .* unused ids .* not compared$/,
    ),
  ]);
  const other = surveyOf([presence("a", 1, [10, 20]), presence("b", 1, [10, 30]), presence("c", 1, [10, 20])]);
  expect(found((f) => checkSurvey(f, other, true))).toEqual([
    expect.stringMatching(/^wrong: eu: 10\/20 in 1 min at a, c; 10\/30 in 1 min at b → configure all agents alike/),
  ]);
  const windows = surveyOf([presence("a", 1, [10]), presence("b", 1, [10], 1_000)]);
  expect(windows.differences).toHaveLength(1);
});

test("similar endpoint ids of different agents are wrong, with the agents of each id", () => {
  const speak = (agent_id: string, resource: string) =>
    bytes(
      JSON.stringify({ v: 1, agent_id, life: 1, seq: 1, pools: [{ resource, window_ms: 60_000, limits: [10, 1e12] }] }),
    );
  const words = ["a", "b", "c", "d"].map((id) => speak(id, "openai"));
  expect(found((f) => checkSurvey(f, surveyOf([...words, speak("e", "open-ai")]), true))[0]).toMatch(
    /^wrong: one endpoint, two ids\? openai at a, b, c, …; open-ai at e → .* give it one id$/,
  );
  expect(found((f) => checkSurvey(f, surveyOf([...words, speak("e", "opennai")]), true))[0]).toMatch(
    /^note: similar ids/,
  );
});

test("an absent limit is not printed as a number", () => {
  const other = surveyOf([presence("a", 1, [10, 1e12]), presence("b", 1, [10, 30])]);
  expect(found((f) => checkSurvey(f, other, true))[0]).toContain("10/no limit in 1 min at a; 10/30");
});

test("the latest message of an agent counts, so a reconfigured agent is no difference", () => {
  const words = [presence("a", 1, [10]), presence("b", 1, [20]), presence("a", 1, [20])];
  expect(surveyOf(words).differences).toEqual([]);
});

test("two processes with one name are found, and a restart is not reported", () => {
  expect(surveyOf([presence("a", 1, [1]), presence("a", 2, [1]), presence("a", 1, [1])]).twins).toEqual(["a"]);
  expect(surveyOf([presence("a", 1, [1]), presence("a", 2, [1]), presence("a", 2, [1])]).twins).toEqual([]);
});

test("invalid messages do not affect the survey", () => {
  const noise = [
    "",
    "null",
    "[]",
    "{",
    '{"v":1}',
    '{"v":2,"agent_id":"x","life":1}',
    '{"v":1,"agent_id":"x","life":1,"pools":[null,{}]}',
  ];
  expect(surveyOf(noise.map(bytes))).toEqual({ differences: [], lookalikes: [], twins: [] });
});

test("a clock that is far off is a note", () => {
  expect(found((f) => checkTimestamps(f, []))).toEqual([]);
  expect(found((f) => checkTimestamps(f, [20, -50]))[0]).toMatch(/^ok: .*50 ms ahead of/);
  expect(found((f) => checkTimestamps(f, [20, 9_000]))[0]).toMatch(/^note: .*9 s behind .* NTP/);
});

test.each([
  ["connect ECONNREFUSED 127.0.0.1:1", /nothing listens/],
  ["the server refused the credentials ('Authorization Violation')", /user and the password/],
  ["WRONGPASS invalid username-password pair", /user and the password/],
  ["getaddrinfo ENOTFOUND nowhere", /host name/],
  ["no answer within 5000 ms", /firewalls/],
  ["self-signed certificate", /TLS/],
  ["something new", /broker's own log/],
])("the error %j has advice", (message, advice) => {
  expect(connectAdvice(message)).toMatch(advice);
});

test("an unsupported version of Node is wrong", () => {
  expect(found((f) => checkRuntime(f, { node: "20.18.3" }))[0]).toMatch(/^wrong: .*Node 20.19 or newer/);
  for (const node of ["20.19.0", "22.0.0", "24.1.0"])
    expect(found((f) => checkRuntime(f, { node }))[0]).toMatch(new RegExp(`^ok: node ${node},`));
});

test("Bun and Deno are reported under their own names", () => {
  expect(found((f) => checkRuntime(f, { node: "26.3.0", bun: "1.4.4" }))[0]).toMatch(/^ok: bun 1\.4\.4,/);
  expect(found((f) => checkRuntime(f, { node: "26.3.0", deno: "2.9.5" }))[0]).toMatch(/^ok: deno 2\.9\.5,/);
});

test("the version of a package is found, even if its manifest cannot be imported", () => {
  expect(versionOf("@hivepace/bus-nats")).toMatch(/^\d/);
  expect(versionOf("ioredis")).toMatch(/^6\./);
  expect(versionOf("no-such-package-at-all")).toBeUndefined();
});
