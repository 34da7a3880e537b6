import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { memoryBus } from "@hivepace/bus";
import { bytes, text } from "@hivepace/test-kit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { observeSwarm, PRESENCE_SUBJECT, type SwarmObserver } from "../src/index.ts";
import { RESOURCE, TestSwarm } from "./support/swarm.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Bytes on the heap that are still reachable. */
function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const WINDOW_MS = 60_000;
const LIMIT = 1_000;

let swarm: TestSwarm;
let observer: SwarmObserver;
let say: (message: object) => Promise<void>;

beforeEach(async () => {
  swarm = new TestSwarm();
  await swarm.start(3, LIMIT, WINDOW_MS, { expectedAgents: 3 });
  const bus = () => memoryBus(swarm.broker, { clock: swarm.clock });
  observer = await observeSwarm({ bus: bus(), namespace: "", clock: swarm.clock });
  const stranger = await bus();
  say = (message) => stranger.publish(PRESENCE_SUBJECT, bytes(JSON.stringify(message)));
  for (const agent of swarm.agents) swarm.call(agent);
  await swarm.clock.run(5_000);
});
afterEach(async () => {
  await observer.close();
  await swarm.close();
});

const pool = (resource: string) => ({ resource, window_ms: WINDOW_MS, limits: [LIMIT], turn: 0, sent: [1], used: [1] });
const presence = (agent_id: string, seq: number, pools: object[]) => {
  const leave = agent_id.padEnd(22, "-");
  return { v: 1, agent_id, life: 1, seq, up_ms: 60_000, next_ms: 1_000, weight: 1, members: 2, leave, pools };
};

test("25,000 invented agents take a bounded part of the memory, and newcomers and observers are not shut out", async () => {
  let most = 0;
  const before = heapBytes();
  for (let i = 0; i < 25_000; i++) {
    await say(presence(`x${i}`, 1, [pool(RESOURCE)]));
    if (i % 2_500 !== 2_499) continue;
    await swarm.clock.run(100);
    most = Math.max(most, heapBytes() - before);
  }
  // Three agents and an observer.
  expect(most).toBeLessThan(60_000_000);
  const newcomer = await swarm.join({ agentId: "newcomer" });
  newcomer.limiter.setCapacity(RESOURCE, LIMIT, WINDOW_MS);
  await swarm.clock.run(2_500);
  const agents = ["agent-0", "agent-1", "agent-2", "newcomer"];
  for (const { limiter } of swarm.agents.slice(0, 3)) {
    const peers = limiter.status().peers.map(({ agentId }) => agentId);
    expect(peers.length).toBeLessThanOrEqual(4_096);
    const own = limiter.agentId;
    expect(peers).toEqual(expect.arrayContaining(agents.filter((agentId) => agentId !== own)));
  }
  const seen = observer.snapshot().agents.map(({ agentId }) => agentId);
  expect(seen.length).toBeLessThanOrEqual(4_096);
  expect(seen).toEqual(expect.arrayContaining(agents));
});

test("an invented agent with 120,000 resources takes a bounded part of the memory", async () => {
  let most = 0;
  const before = heapBytes();
  for (let i = 0; i < 120; i++) {
    await say(
      presence(
        "x",
        i + 1,
        Array.from({ length: 1_000 }, (_, j) => pool(`r${1_000 * i + j}`)),
      ),
    );
    await swarm.clock.run(100);
    if (i % 10 === 9) most = Math.max(most, heapBytes() - before);
  }
  expect(most).toBeLessThan(120_000_000);
  const { resources } = observer.snapshot();
  expect(resources.length).toBeLessThanOrEqual(20_000);
  const names = resources.map(({ resource }) => resource);
  expect(names).toEqual(expect.arrayContaining([RESOURCE, "r119999"]));
});

test("a stranger cannot send a goodbye for a real agent, after any number of invented agents", async () => {
  const bus = await memoryBus(swarm.broker, { clock: swarm.clock });
  const spoken = new Map<string, { agent_id: string; seq: number }>();
  await bus.subscribe(PRESENCE_SUBJECT, (payload) => {
    const message = JSON.parse(text(payload));
    if (message.agent_id.startsWith("agent-")) spoken.set(message.agent_id, message);
  });
  for (let i = 0; i < 25_000; i++) {
    await say(presence(`x${i}`, 1, []));
    if (i % 2_500 === 2_499) await swarm.clock.run(100);
  }
  await swarm.clock.run(2_000);
  const leave = "a text of the stranger";
  const commitment = createHash("sha256").update(leave).digest("base64url").slice(0, 22);
  for (const message of [...spoken.values()]) {
    await say({ ...message, seq: message.seq + 1, leave: commitment });
    await say({ ...message, seq: message.seq + 2, leave, bye: true });
  }
  await swarm.clock.run(100);
  for (const { limiter } of swarm.agents) {
    const states = limiter.status().peers.filter(({ agentId }) => agentId.startsWith("agent-"));
    expect(states.map(({ state }) => state)).toEqual(["live", "live"]);
  }
});
