import { expect, test } from "vitest";
import { noteReceived, silentHeartbeats } from "./loss.ts";
import { suspectAfterMs } from "./membership.ts";
import { testAgent } from "./test-agents.ts";

/** An agent that has received every `n`-th of many messages. */
function lossy(missed: number) {
  const agent = testAgent();
  for (let i = 0; i < 300; i++) noteReceived(agent, missed);
  return agent;
}

test.each([
  [0, 0],
  [1, 0.5],
  [3, 0.75],
])("with %i messages missing before each one that arrives, the loss is %f", (missed, loss) => {
  expect(lossy(missed).link.lossRate).toBeCloseTo(loss, 1);
});

test("with up to 18 % loss a silent peer is suspected as without loss", () => {
  const agent = testAgent();
  for (let i = 0; i < 600; i++) noteReceived(agent, i % 6 === 0 ? 1 : 0);
  expect(agent.link.lossRate).toBeGreaterThan(0.1);
  expect(silentHeartbeats(agent)).toBe(agent.config.tuning.suspectAfterHeartbeats);
});

test("the more messages are lost, the longer a silent peer is waited for, within a bound", () => {
  expect(silentHeartbeats(lossy(1))).toBeGreaterThan(8);
  expect(suspectAfterMs(lossy(1), 1_000)).toBeGreaterThan(8_000);
  expect(silentHeartbeats(lossy(1_000_000))).toBe(12);
});

test("one gap, of any length, changes nothing", () => {
  const agent = testAgent();
  noteReceived(agent, 1e9);
  expect(silentHeartbeats(agent)).toBe(agent.config.tuning.suspectAfterHeartbeats);
});
