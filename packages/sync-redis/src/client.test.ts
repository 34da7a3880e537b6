import { expect, test, vi } from "vitest";
import { redisSync } from "./index.ts";

vi.mock("ioredis", () => {
  throw new Error("Cannot find package 'ioredis'");
});
vi.mock("redis", () => {
  throw new Error("Cannot find package 'redis'");
});

test("without a client library the error names the package to install and why the import failed", async () => {
  await expect(redisSync({ host: "localhost" })).rejects.toMatchObject({
    code: "SYNC_UNAVAILABLE",
    message: expect.stringMatching(/npm install ioredis \(or npm install redis\) \(import failed: .+\)$/s),
  });
});

test("the error names the requested client library as the package to install", async () => {
  await expect(redisSync({ client: "redis" })).rejects.toMatchObject({
    code: "SYNC_UNAVAILABLE",
    message: expect.stringContaining("npm install redis"),
  });
});
