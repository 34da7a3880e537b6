import { expect, test, vi } from "vitest";
import { isRefusal, isReply, tell } from "./client.ts";
import { redisSync } from "./index.ts";

vi.mock("ioredis", () => {
  throw new Error("Cannot find package 'ioredis'");
});

test("without ioredis the options form says what to install, and why the import failed", async () => {
  await expect(redisSync({ host: "localhost" })).rejects.toMatchObject({
    code: "SYNC_UNAVAILABLE",
    message: expect.stringMatching(/npm install ioredis \(import failed: .+\)$/s),
  });
});

const reply = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

test.each([
  ["WRONGPASS invalid username-password pair or user is disabled.", true],
  ["NOAUTH Authentication required.", true],
  ["ERR invalid password", true],
  ["NOPERM this user has no permissions to run the 'info' command", false],
  ["LOADING Redis is loading the dataset in memory", false],
])("%s: the credentials are refused, or not", (message, refused) => {
  expect(isRefusal(reply(message))).toBe(refused);
  expect(tell(reply(message)).includes("refused the credentials")).toBe(refused);
});

test("an error of the connection is no reply of Redis, whatever it says", () => {
  expect(isReply(new Error("WRONGPASS"))).toBe(false);
  expect(isRefusal(new Error("WRONGPASS"))).toBe(false);
  expect(isRefusal(undefined)).toBe(false);
});

test("an error without a message is told by its code", () => {
  expect(tell(Object.assign(new Error(""), { code: "ECONNREFUSED" }))).toBe("ECONNREFUSED");
});
