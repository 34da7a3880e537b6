import { describe, expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import type { Message } from "./message.ts";
import { settleMsOf } from "./schedule.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, word } from "./test-agents.ts";
import { TUNING } from "./tuning.ts";

/** Publishes a message every second; the bus echoes each after `delayMs(i)`. Returns the messages. */
function echoed(agent: Agent, count: number, delayMs: (i: number) => number): Message[] {
  const messages: Message[] = [];
  const arrivals: { at: number; message: Message }[] = [];
  for (let now = 0; messages.length < count; now += 50) {
    for (const { message } of arrivals.filter(({ at }) => at === now)) step(agent, { type: "receive", message }, now);
    const { publish } = step(agent, { type: "wake" }, now);
    if (!publish) continue;
    arrivals.push({ at: now + delayMs(messages.length), message: publish });
    messages.push(publish);
  }
  return messages;
}

const settleMs = (agent: Agent) => settleMsOf(agent, quotaIn(agent));

describe("the settle time", () => {
  test("is the usual one on a fast bus, and nothing is reported of the delay", () => {
    const agent = testAgent();
    const messages = echoed(agent, 100, () => 50);
    expect(settleMs(agent)).toBe(TUNING.settleMs);
    expect(messages.every(({ echoMs }) => echoMs === undefined)).toBe(true);
  });

  test("is not changed by single slow messages", () => {
    const agent = testAgent();
    echoed(agent, 200, (i) => (i % 50 === 0 ? 500 : 50));
    expect(settleMs(agent)).toBe(TUNING.settleMs);
  });

  test("covers most messages of a slow bus", () => {
    const agent = testAgent();
    const messages = echoed(agent, 200, (i) => 1_000 + 50 * ((i * 7) % 21));
    expect(settleMs(agent)).toBeGreaterThan(1_750);
    expect(settleMs(agent)).toBeLessThan(2_300);
    expect(messages.at(-1)?.echoMs).toBeGreaterThan(1_750);
  });

  test("follows the slowest live agent, and not one that is gone", () => {
    const agent = testAgent();
    step(agent, { type: "receive", message: word("b", 1, { echoMs: 2_000 }) }, 1_000);
    step(agent, { type: "receive", message: word("c", 1, { echoMs: 800 }) }, 1_000);
    step(agent, { type: "wake" }, 1_600);
    expect(settleMs(agent)).toBe(2_000);
    for (let now = 2_000, seq = 2; now < 25_000; now += 500, seq++) {
      step(agent, { type: "receive", message: word("c", seq, { echoMs: 800 }) }, now);
      step(agent, { type: "wake" }, now);
    }
    expect(settleMs(agent)).toBe(800);
  });

  test("is a twelfth of the window at most, whatever a stranger reports", () => {
    const agent = testAgent();
    step(agent, { type: "receive", message: word("b", 1, { echoMs: 60_000 }) }, 1_000);
    step(agent, { type: "wake" }, 1_600);
    expect(settleMs(agent)).toBe(5_000);
  });
});
