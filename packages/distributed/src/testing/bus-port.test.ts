import type { MessageBus } from "@hivepace/bus";
import { busSuite } from "@hivepace/bus/testing";
import { seededRandom, settlePromises } from "@hivepace/core/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentClock } from "./agent-clock.ts";
import { type BusMessage, BusPort } from "./bus-port.ts";
import { LocalTime } from "./local-time.ts";
import { Network } from "./network.ts";
import { networkDefaults } from "./options.ts";
import { Timeline } from "./timeline.ts";

/** Ports of a network without loss or duplicates. */
function ports(count: number, network = {}) {
  const timeline = new Timeline();
  const opened: BusPort[] = [];
  const options = { ...networkDefaults, loss: 0, duplicates: 0, ...network };
  const wire = new Network(count, options, timeline, seededRandom(1), (to, message) =>
    opened[to]?.receive(message as BusMessage),
  );
  const open = (): BusPort => {
    const clock = new AgentClock(timeline, new LocalTime(0, 1), { epochOffsetMs: 0.5 });
    const port = new BusPort(wire, opened.length, clock);
    opened.push(port);
    return port;
  };
  return { timeline, wire, open };
}

describe("the suite of all buses", () => {
  const world = ports(200, { delayMs: [1, 1], slow: 0 });
  let isOver = false;
  let running: Promise<void> | undefined;
  // Virtual time advances in the background for as long as the contract suite runs.
  beforeAll(() => {
    const run = async (): Promise<void> => {
      while (!isOver) {
        await world.timeline.settleUntil(world.timeline.now + 10);
        await settlePromises();
      }
    };
    running = run();
  });
  afterAll(async () => {
    isOver = true;
    await running;
  });

  const restart = async (whileAway?: () => Promise<void>): Promise<void> => {
    const end = world.wire.outage();
    await whileAway?.();
    end();
  };
  busSuite({ test, open: async (): Promise<MessageBus> => world.open().bus, restart });
});

test("a port that is cut neither sends nor receives", async () => {
  const { timeline, open } = ports(2);
  const [a, b] = [open(), open()];
  const heard: string[] = [];
  await a.bus.subscribe("s", (payload) => heard.push(`a ${payload[0]}`));
  await b.bus.subscribe("s", (payload) => heard.push(`b ${payload[0]}`));
  await a.bus.publish("s", Uint8Array.of(1));
  a.cut();
  await a.bus.publish("s", Uint8Array.of(2));
  await b.bus.publish("s", Uint8Array.of(3));
  await timeline.settleUntil(1_000);
  expect(heard.sort()).toEqual(["b 1", "b 3"]);
});

test("the network loses and repeats what ports publish", async () => {
  const { timeline, open } = ports(1, { loss: 0.3, duplicates: 0.2 });
  const { bus } = open();
  let heard = 0;
  await bus.subscribe("s", () => heard++);
  for (let i = 0; i < 1_000; i++) await bus.publish("s", Uint8Array.of(1));
  await timeline.settleUntil(1_000);
  expect(heard / 1_000).toBeCloseTo(0.7 * 1.2, 1);
});
