import { setTimeout as pause } from "node:timers/promises";
import type { MessageBus } from "@hivepace/bus";

/** A bus on which every message takes a time to the broker, and the same time back. */
export function delayed(bus: MessageBus, ms: number): MessageBus {
  return new Proxy(bus, {
    get(target, property) {
      if (property === "publish")
        return async (subject: string, payload: Uint8Array) => {
          await pause(ms, undefined, { ref: false });
          await target.publish(subject, payload);
        };
      if (property === "subscribe")
        return (subject: string, handle: (payload: Uint8Array) => void) =>
          target.subscribe(subject, (payload) => void setTimeout(() => handle(payload), ms).unref());
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
