import { ManualClock } from "@hivepace/core/testing";
import { beforeEach, expect, test, vi } from "vitest";
import type { BusDriver, BusEvents } from "./driver.ts";
import { DriverBus } from "./driver-bus.ts";
import { namespacedBus } from "./namespaced-bus.ts";

/** A driver whose methods a test replaces; records every call. */
class ScriptedDriver implements BusDriver {
  readonly name = "scripted";
  readonly supports = {
    delivery: "at-most-once",
    ordering: "none",
    echo: false,
    replay: false,
    maxPayloadBytes: 10,
  } as const;
  readonly calls: string[] = [];
  awayReason: string | undefined;
  publish = async (subject: string): Promise<void> => void this.calls.push(`publish ${subject}`);
  listen = async (subject: string): Promise<void> => void this.calls.push(`listen ${subject}`);
  unlisten = async (subject: string): Promise<void> => void this.calls.push(`unlisten ${subject}`);
  close = async (): Promise<void> => void this.calls.push("close");
}

const never = () => new Promise<never>(() => {});
const payload = new Uint8Array(1);
let clock: ManualClock;
let driver: ScriptedDriver;
let events: BusEvents;
let bus: DriverBus;

beforeEach(() => {
  clock = new ManualClock();
  driver = new ScriptedDriver();
  bus = new DriverBus(
    (given) => {
      events = given;
      return driver;
    },
    "ready",
    { clock, publishTimeoutMs: 1_000, closeTimeoutMs: 2_000 },
  );
});

test("a publish that the broker does not confirm in time rejects with BUS_UNAVAILABLE and leaves no timer", async () => {
  driver.publish = never;
  const published = expect(bus.publish("s", payload)).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  await clock.run(999);
  expect(clock.pending).toBe(1);
  await clock.run(1);
  await published;
  expect(clock.pending).toBe(0);
});

test("a confirmed publish leaves no timer", async () => {
  await bus.publish("s", payload);
  expect(clock.pending).toBe(0);
});

test("a failure of the driver becomes BUS_UNAVAILABLE with its cause", async () => {
  const cause = new Error("the wire is cut");
  driver.publish = () => Promise.reject(cause);
  driver.listen = () => Promise.reject(cause);
  const expected = { code: "BUS_UNAVAILABLE", message: expect.stringContaining("the wire is cut"), cause };
  await expect(bus.publish("s", payload)).rejects.toMatchObject(expected);
  await expect(bus.subscribe("s", () => {})).rejects.toMatchObject(expected);
});

test("a failed subscribe can be retried", async () => {
  const { listen } = driver;
  driver.listen = () => Promise.reject(new Error("not now"));
  await expect(bus.subscribe("s", () => {})).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  driver.listen = listen;
  await bus.subscribe("s", () => {});
  expect(driver.calls).toEqual(["listen s"]);
});

test("the driver listens to a subject once for all handlers, and unlistens after the last one unsubscribes", async () => {
  const [a, b] = await Promise.all([bus.subscribe("s", () => {}), bus.subscribe("s", () => {})]);
  await a.unsubscribe();
  await a.unsubscribe();
  expect(driver.calls).toEqual(["listen s"]);
  await b.unsubscribe();
  expect(driver.calls).toEqual(["listen s", "unlisten s"]);
});

test("driver calls for one subject are serialised", async () => {
  let confirm = () => {};
  driver.unlisten = (subject) => {
    driver.calls.push(`unlisten ${subject}`);
    return new Promise((resolve) => {
      confirm = resolve;
    });
  };
  const first = await bus.subscribe("s", () => {});
  const leaving = first.unsubscribe();
  const second = bus.subscribe("s", () => {});
  await clock.run(0);
  expect(driver.calls).toEqual(["listen s", "unlisten s"]);
  confirm();
  await Promise.all([leaving, second]);
  expect(driver.calls).toEqual(["listen s", "unlisten s", "listen s"]);
});

test("an aborted signal ends the wait for a subscription", async () => {
  driver.listen = never;
  const controller = new AbortController();
  const subscribing = bus.subscribe("s", () => {}, { signal: controller.signal });
  controller.abort("enough");
  await expect(subscribing).rejects.toBe("enough");
});

test("a publish while the bus is not ready does not reach the driver", async () => {
  events.state("interrupted");
  await expect(bus.publish("s", payload)).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  expect(driver.calls).toEqual([]);
});

test("the error of a publish contains the reason why the broker cannot be reached, through wrappers too", async () => {
  const wrapper = namespacedBus(bus, "outer");
  driver.awayReason = "connect ECONNREFUSED 127.0.0.1:1";
  expect([bus.awayReason, wrapper.awayReason]).toEqual([undefined, undefined]);
  events.state("interrupted");
  const { awayReason } = driver;
  expect([bus.awayReason, wrapper.awayReason]).toEqual([awayReason, awayReason]);
  for (const away of [bus, wrapper]) await expect(away.publish("s", payload)).rejects.toThrow(awayReason);
});

test("a driver that reports closed closes the bus for good", async () => {
  const states: string[] = [];
  bus.onState((state) => states.push(state));
  events.state("closed");
  events.state("ready");
  expect([bus.state, states]).toEqual(["closed", ["closed"]]);
  await expect(bus.publish("s", payload)).rejects.toMatchObject({ code: "BUS_CLOSED" });
  expect(driver.calls).toEqual(["close"]);
});

test("listeners receive state changes only, until they are removed", () => {
  const states: string[] = [];
  const stop = bus.onState((state) => states.push(state));
  events.state("ready");
  events.state("interrupted");
  events.state("interrupted");
  events.state("ready");
  stop();
  events.state("interrupted");
  expect(states).toEqual(["interrupted", "ready"]);
});

test("close ends pending calls and waits only a bounded time for the driver", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  driver.publish = never;
  driver.listen = never;
  driver.close = never;
  const waiting = Promise.allSettled([bus.publish("s", payload), bus.subscribe("s", () => {})]);
  const closed = bus.close();
  expect((await waiting).map((outcome) => outcome.status === "rejected" && outcome.reason.code)).toEqual([
    "BUS_CLOSED",
    "BUS_CLOSED",
  ]);
  await clock.run(2_000);
  await closed;
  expect(clock.pending).toBe(0);
  expect(warned).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ code: "HIVEPACE_BUS_CLOSE" }));
  warned.mockRestore();
});

test("no handler is called after close, even for a message in flight", async () => {
  const handler = vi.fn();
  await bus.subscribe("s", handler);
  await bus.close();
  events.message("s", payload);
  expect(handler).not.toHaveBeenCalled();
});

test("a handler may unsubscribe the handler after it", async () => {
  const next = vi.fn();
  await bus.subscribe("s", () => void other.unsubscribe());
  const other = await bus.subscribe("s", next);
  events.message("s", payload);
  expect(next).not.toHaveBeenCalled();
});

test.each([
  ["payload", () => bus.publish("s", "text" as unknown as Uint8Array)],
  ["handler", () => bus.subscribe("s", undefined as unknown as () => void)],
])("an invalid %s is rejected with an error that names the option", async (option, call) => {
  await expect(call()).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
});

test.each(["publishTimeoutMs", "closeTimeoutMs"])(
  "an invalid %s is rejected with an error that names the option",
  (option) => {
    expect(() => new DriverBus(() => driver, "ready", { [option]: 0 })).toThrowError(
      expect.objectContaining({ code: "INVALID_CONFIG", option, value: 0 }),
    );
  },
);
