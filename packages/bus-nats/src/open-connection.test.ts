import { expect, test } from "vitest";
import type { NatsConnectionLike } from "./client.ts";
import { Dialer, loadLibrary, type NatsLibrary } from "./open-connection.ts";

const missing = async () => {
  throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
};

test("the first installed library is used", async () => {
  const library = { connect() {} };
  expect(await loadLibrary([missing, async () => library])).toBe(library);
});

test("without a library the error names the package to install", async () => {
  await expect(loadLibrary([missing, missing])).rejects.toMatchObject({
    code: "BUS_UNAVAILABLE",
    message: expect.stringContaining("npm install @nats-io/transport-node"),
    cause: expect.objectContaining({ code: "ERR_MODULE_NOT_FOUND" }),
  });
});

test("a broken library is not mistaken for a missing one", async () => {
  const broken = () => Promise.reject(new SyntaxError("broken"));
  await expect(loadLibrary([broken, missing])).rejects.toThrow("broken");
});

function dial(options: Record<string, unknown>) {
  const seen: Record<string, unknown>[] = [];
  let closed = 0;
  const library: NatsLibrary = {
    async connect(given) {
      seen.push(given);
      return { close: async () => void closed++ } as Partial<NatsConnectionLike> as NatsConnectionLike;
    },
    nkeyAuthenticator: (seed) => `nkey:${new TextDecoder().decode(seed)}`,
  };
  const dialer = new Dialer(library, options, 1_234);
  return { dialer, seen, closed: () => closed };
}

test("an owned connection reconnects without limit, and the caller's options take precedence", async () => {
  const { dialer, seen } = dial({ servers: ["a"], pingInterval: 7, tls: { ca: "ca" } });
  await dialer.dial({ patient: true });
  expect(seen[0]).toMatchObject({
    servers: ["a"],
    maxReconnectAttempts: -1,
    pingInterval: 7,
    timeout: 1_234,
    tls: { ca: "ca" },
    waitOnFirstConnect: true,
  });
  expect(seen[0]).not.toHaveProperty("authenticator");
});

test("an NKEY is added to the caller's authenticators", async () => {
  const { dialer, seen } = dial({ servers: ["a"], nkey: "SUX", authenticator: "mine" });
  await dialer.dial({ patient: false });
  expect(seen[0]).toMatchObject({ authenticator: ["mine", "nkey:SUX"], waitOnFirstConnect: false });
});

test("waits between attempts are bounded and random, and end when the dialer stops", async () => {
  const { dialer, seen } = dial({ servers: ["a"] });
  await dialer.dial({ patient: true });
  const wait = seen[0]?.["reconnectDelayHandler"] as () => number;
  const waits = Array.from({ length: 100 }, wait);
  expect(new Set(waits).size).toBeGreaterThan(50);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(250);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
  await dialer.stop();
  expect(wait).toThrow("the bus was closed");
});

test("a connection that opens after the stop is closed", async () => {
  const { dialer, closed } = dial({ servers: ["a"] });
  await dialer.stop();
  await dialer.dial({ patient: true });
  expect(closed()).toBe(1);
});
