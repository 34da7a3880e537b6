import { readdirSync, readFileSync } from "node:fs";
import { memoryBus } from "@hivepace/bus";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "../../src/index.ts";
import { Fuzzer } from "./fuzz.ts";
import { RESOURCE, TestSwarm } from "./swarm.ts";

const fixtures = new URL("../fixtures/", import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, fixtures), "utf8")) as unknown;

/** Sends this many malformed messages to an agent of a swarm of two, and returns the agent's state before and after. */
export async function hear(messages: number, seed: number) {
  const swarm = new TestSwarm();
  const [agent] = await swarm.start(2);
  const view = () => {
    const { ignored: _, viewAgeMs: __, lastEchoAgeMs: ___, peers, ...rest } = agent?.limiter.status() ?? { peers: [] };
    return {
      ...rest,
      peers: peers.map(({ agentId, state }) => ({ agentId, state })),
      api: agent?.limiter.getCapacity(RESOURCE),
    };
  };
  const announcements = (read("capacity.json") as { payload: string }[]).map(({ payload }) => payload);
  const reports = readdirSync(new URL("presence/", fixtures)).map(
    (file) => (read(`presence/${file}`) as { payload: string }).payload,
  );
  const noise = [
    { subject: CAPACITY_SUBJECT, fuzzer: new Fuzzer(seed, announcements) },
    { subject: PRESENCE_SUBJECT, fuzzer: new Fuzzer(seed + 1, reports) },
  ];
  const stranger = await memoryBus(swarm.broker);
  const before = view();
  // The clock stands still, so that only a message can cause a change.
  for (let i = 0; i < messages; i++) {
    const { subject, fuzzer } = noise[i % 2] as (typeof noise)[number];
    const sent = stranger.publish(subject, fuzzer.next());
    // Delivers the messages in batches, so that they are not all in memory at once.
    if (i % 100 === 99) await sent.then(() => new Promise((resolve) => setImmediate(resolve)));
  }
  await new Promise((resolve) => setImmediate(resolve));
  const after = view();
  const counts = agent?.limiter.status().ignored ?? {};
  await swarm.close();
  await stranger.close();
  return { before, after, counts, ignored: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}
