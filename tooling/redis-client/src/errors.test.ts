import { expect, test } from "vitest";
import { answers, describeError, isRefusal, isReply } from "./errors.ts";

const reply = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

test.each([
  ["WRONGPASS invalid username-password pair or user is disabled.", true],
  ["NOAUTH Authentication required.", true],
  ["ERR invalid password", true],
  ["NOPERM this user has no permissions to run the 'info' command", false],
  ["LOADING Redis is loading the dataset in memory", false],
])("%s: refused credentials are recognised", (message, refused) => {
  expect(isRefusal(reply(message))).toBe(refused);
  expect(describeError(reply(message)).includes("refused the credentials")).toBe(refused);
});

test("a connection error is not a reply of Redis, whatever its message", () => {
  expect(isReply(new Error("WRONGPASS"))).toBe(false);
  expect(isRefusal(new Error("WRONGPASS"))).toBe(false);
  expect(isRefusal(undefined)).toBe(false);
});

test("an error without a message is described by its code", () => {
  expect(describeError(Object.assign(new Error(""), { code: "ECONNREFUSED" }))).toBe("ECONNREFUSED");
});

test("an error during loading is no answer, but a refusal of PING is", async () => {
  const says = (error: Error) => answers({ ping: () => Promise.reject(error) });
  await expect(says(reply("LOADING Redis is loading the dataset in memory"))).rejects.toThrow("LOADING");
  await expect(says(reply("NOPERM this user has no permissions to run the 'ping' command"))).resolves.toBeUndefined();
  await expect(says(new Error("the connection was closed"))).rejects.toThrow("closed");
});
