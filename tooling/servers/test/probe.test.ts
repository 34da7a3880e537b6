import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { answers, kafkaProbe, natsProbe, type Probe, redisProbe } from "../src/process/probe.ts";

let listener: Server | undefined;
afterEach(() => new Promise<void>((resolve) => (listener ? listener.close(() => resolve()) : resolve())));

async function ask(probe: Probe, onConnection: (socket: Socket) => void): Promise<boolean> {
  const server = createServer(onConnection);
  listener = server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return answers({ host: "127.0.0.1", port }, probe, 500);
}

const reply = (text: string) => (socket: Socket) => socket.on("data", () => socket.write(text));

test.each([
  ["+PONG\r\n", true],
  ["-NOAUTH Authentication required.\r\n", true],
  ["-LOADING Redis is loading the dataset in memory\r\n", false],
])("redis that replies %j is ready: %s", async (text, ready) => {
  expect(await ask(redisProbe, reply(text))).toBe(ready);
});

test("nats is ready after INFO and PONG, however they are split into packets", async () => {
  const ready = await ask(natsProbe, (socket) => {
    socket.write("INFO {}");
    setImmediate(() => socket.write("\r\n"));
    socket.on("data", (data) => data.toString().includes("PING") && socket.write("PONG\r\n"));
  });
  expect(ready).toBe(true);
});

test("nats with authentication is ready after INFO", async () => {
  expect(await ask(natsProbe, (socket) => socket.write('INFO {"auth_required":true}\r\n'))).toBe(true);
});

test.each([
  [0, false],
  [1, true],
])("kafka that knows %i brokers is ready: %s", async (brokers, ready) => {
  const response = Buffer.alloc(12);
  response.writeInt32BE(brokers, 8);
  expect(await ask(kafkaProbe, (socket) => socket.on("data", () => socket.write(response)))).toBe(ready);
});

test("silence, a closed connection and a closed port are not ready", async () => {
  expect(await ask(redisProbe, () => {})).toBe(false);
  expect(await ask(natsProbe, (socket) => socket.destroy())).toBe(false);
  const closed = listener?.address() as AddressInfo;
  await new Promise((resolve) => listener?.close(resolve));
  listener = undefined;
  expect(await answers({ host: "127.0.0.1", port: closed.port }, redisProbe)).toBe(false);
});
