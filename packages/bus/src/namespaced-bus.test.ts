import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { memoryBroker } from "./memory-broker.ts";
import { memoryBus } from "./memory-bus.ts";
import { namespacedBus } from "./namespaced-bus.ts";

const part = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom("a", "b", ".", "%", "2", "E", "*") });

test("namespaces on one broker never receive each other's messages, whatever their names", async () => {
  await fc.assert(
    fc.asyncProperty(part, part, part, part, async (namespaceA, subjectA, namespaceB, subjectB) => {
      const same = namespaceA === namespaceB && subjectA === subjectB;
      const broker = memoryBroker();
      const a = namespacedBus(await memoryBus(broker), namespaceA);
      const b = namespacedBus(await memoryBus(broker), namespaceB);
      const heard = vi.fn();
      await b.subscribe(subjectB, heard);
      await a.publish(subjectA, new Uint8Array(1));
      await Promise.resolve();
      expect(heard).toHaveBeenCalledTimes(same ? 1 : 0);
    }),
  );
});

test("the bus below receives messages under the prefixed subject", async () => {
  const bus = await memoryBus();
  const heard = vi.fn();
  await bus.subscribe("prod.ratelimit.capacity", heard);
  await namespacedBus(bus, "prod").publish("ratelimit.capacity", new Uint8Array(1));
  await Promise.resolve();
  expect(heard).toHaveBeenCalledOnce();
});

test("closing a namespaced bus leaves the bus below open; closing the bus below closes both", async () => {
  const bus = await memoryBus();
  const first = namespacedBus(bus, "a");
  const second = namespacedBus(bus, "b");
  await first.close();
  expect([first.state, bus.state, second.state]).toEqual(["closed", "ready", "ready"]);
  await bus.close();
  expect(second.state).toBe("closed");
});

test.each(["", "x".repeat(55), ".".repeat(20), "a\nb", 7 as unknown as string])(
  "an invalid namespace is rejected (case %#)",
  async (namespace) => {
    const bus = await memoryBus();
    expect(() => namespacedBus(bus, namespace)).toThrowError(
      expect.objectContaining({ code: "INVALID_CONFIG", option: "namespace", value: namespace }),
    );
  },
);
