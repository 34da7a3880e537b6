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
    waitOnFirstConnect: false,
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

test("a patient dialer tries again until a server answers, and ends at a refusal", async () => {
  const answers: (Error | undefined)[] = [new Error("connection refused"), new Error("timeout"), undefined];
  const library: NatsLibrary = {
    async connect() {
      const error = answers.shift();
      if (error) throw error;
      return { close: async () => {} } as Partial<NatsConnectionLike> as NatsConnectionLike;
    },
    nkeyAuthenticator: () => undefined,
  };
  const options = { servers: ["a"], reconnectTimeWait: 1, reconnectJitter: 1 };
  await new Dialer(library, options, 1_234).dial({ patient: true });
  expect(answers).toEqual([]);
  answers.push(new Error("timeout"), new Error("'Authorization Violation'"), undefined);
  await expect(new Dialer(library, options, 1_234).dial({ patient: true })).rejects.toThrow("Authorization");
  expect(answers).toHaveLength(1);
});

test("the dialer itself waits between attempts to reconnect, except before the first", async () => {
  const dialed: number[] = [];
  const protocol = { _doDial: async () => void dialed.push(performance.now()) };
  const connection = { protocol, close: async () => {} } as unknown as NatsConnectionLike;
  let given: Record<string, unknown> = {};
  const library: NatsLibrary = {
    async connect(options) {
      given = options;
      return connection;
    },
    nkeyAuthenticator: () => undefined,
  };
  const dialer = new Dialer(library, { servers: ["a"], reconnectTimeWait: 20, reconnectJitter: 0 }, 1_234);
  await dialer.dial({ patient: false });
  expect((given["reconnectDelayHandler"] as () => number)()).toBe(0);
  const server = {};
  const dial = protocol._doDial as (server: object) => Promise<void>;
  const before = performance.now();
  await dial(server);
  await dial({});
  await dial(server);
  expect((dialed[2] as number) - before).toBeGreaterThanOrEqual(19);
  await dialer.stop();
  await expect(dial(server)).rejects.toThrow("the bus was closed");
  expect(dialed).toHaveLength(3);
});
