import { expect, test, vi } from "vitest";
import { redisPubSubBus } from "./index.ts";

vi.mock("ioredis", () => {
  throw new Error("Cannot find package 'ioredis'");
});
vi.mock("redis", () => {
  throw new Error("Cannot find package 'redis'");
});

test("without a client library the error names the package to install and why the import failed", async () => {
  await expect(redisPubSubBus({ host: "localhost" })).rejects.toMatchObject({
    code: "BUS_UNAVAILABLE",
    message: expect.stringMatching(/npm install ioredis \(or npm install redis\) \(import failed: .+\)$/s),
  });
});

test("the error names the requested client library as the package to install", async () => {
  await expect(redisPubSubBus({ client: "redis" })).rejects.toMatchObject({
    code: "BUS_UNAVAILABLE",
    message: expect.stringContaining("npm install redis"),
  });
});
