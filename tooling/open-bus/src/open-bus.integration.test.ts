import { describeServer } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { openBus } from "./open-bus.ts";

for (const kind of ["nats", "redis", "kafka"] as const)
  describeServer(kind, (server) => {
    test("two buses at one address exchange messages", async () => {
      const address = kind === "kafka" ? `kafka://${server().url}` : server().url;
      const [one, other] = await Promise.all([openBus(address), openBus(address)]);
      const subject = `open-bus.${process.pid}.${Date.now()}`;
      const heard: Uint8Array[] = [];
      await other.subscribe(subject, (payload) => heard.push(payload));
      await one.publish(subject, new Uint8Array([7]));
      await until(() => heard.length > 0, "the message has come");
      expect(heard.map((payload) => [...payload])).toEqual([[7]]);
      await Promise.all([one.close(), other.close()]);
    });
  });

test("an unreachable broker rejects with BUS_UNAVAILABLE", async () => {
  const address = "nats://127.0.0.1:1";
  await expect(openBus(address, { connectTimeoutMs: 500 })).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
});
