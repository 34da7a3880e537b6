import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, listen, selfSigned, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";

const opened = new Opened();
afterEach(opened.close);

describeOwnServer("redis", (server) => {
  let folder = "";
  let ca = "";
  // The port after the server's port is reserved for this server too.
  const url = () => `rediss://${server().host}:${server().port + 1}`;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "hivepace-tls-"));
    const made = await selfSigned();
    ca = made.cert;
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    await Promise.all([writeFile(cert, made.cert), writeFile(key, made.key)]);
    const redis = new Redis(server().url);
    const settings = { "tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": cert, "tls-auth-clients": "no" };
    await redis.config("SET", ...Object.entries(settings).flat(), "tls-port", `${server().port + 1}`);
    redis.disconnect();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("TLS options pass through, including the certificate authority", async () => {
    const bus = await opened.open(redisPubSubBus({ url: url(), tls: { ca } }));
    const heard = await listen(bus, "tls");
    await bus.publish("tls", bytes("hello"));
    await until(() => heard.length === 1, "the message arrives");
  });

  test("the duplicate of a lent client inherits its TLS options", async () => {
    const client = opened.client(new Redis(url(), { tls: { ca } }));
    expect((await opened.open(redisPubSubBus(client))).state).toBe("ready");
  });

  test("an untrusted certificate is an error with its cause", async () => {
    await expect(redisPubSubBus({ url: url(), connectTimeoutMs: 2_000 })).rejects.toMatchObject({
      code: "BUS_UNAVAILABLE",
      cause: expect.objectContaining({ code: expect.stringMatching(/CERT/) }),
    });
  });
});
