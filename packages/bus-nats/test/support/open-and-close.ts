// Run as a separate program: opens a bus, closes it in the requested state unless it is left open, and must then exit by
// itself.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { natsBus } from "../../src/index.ts";

const [, , mode, url = "", isLeftOpen] = process.argv;

if (mode === "ready") {
  const bus = await natsBus({ servers: url });
  await bus.subscribe("exit", () => {});
  await bus.publish("exit", new Uint8Array(1));
  if (!isLeftOpen) await bus.close();
}

if (mode === "refused") await natsBus({ servers: url, connectTimeoutMs: 1_000 }).catch(() => {});

if (mode === "connecting") {
  const bus = await natsBus({ servers: url, waitForBroker: true, connectTimeoutMs: 1_000 });
  if (!isLeftOpen) await bus.close();
}

// The server drops the first connection, then accepts the next one and never answers.
if (mode === "reconnecting") {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.unref();
    if (sockets.push(socket) > 1) return;
    socket.write(`INFO {"server_id":"x","version":"2.9.0","proto":1,"max_payload":1048576}\r\n`);
    socket.on("data", (data) => {
      for (const _ of `${data}`.matchAll(/PING/g)) socket.write("PONG\r\n");
    });
    socket.on("error", () => {});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { port: number };
  const bus = await natsBus({
    servers: `127.0.0.1:${port}`,
    connectTimeoutMs: 1_000,
    reconnectTimeWait: 1,
    reconnectJitter: 1,
  });
  const again = once(server, "connection");
  sockets[0]?.destroy();
  await again;
  server.unref();
  if (!isLeftOpen) await bus.close();
}

process.stdout.write("closed\n");
