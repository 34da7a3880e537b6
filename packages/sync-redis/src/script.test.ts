import { expect, test } from "vitest";
import { allocateScript, syncScript, withCommand } from "./script.ts";

const refused = "ERR The user executing the script can't run this command or subcommand";

test.each(["TIME", "DEL", "HSET", "PEXPIRE"])(
  "a refusal of %s with a line number is reported with the name of the command",
  (name) => {
    const line = syncScript.text.split("\n").findIndex((one) => one.includes(`call('${name}'`)) + 1;
    expect(withCommand(`${refused} script: c91c, on @user_script:${line}.`)).toMatch(
      new RegExp(`^no right to ${name}: ERR`),
    );
  },
);

test("a refusal without a line number is attributed to the command called with pcall", () => {
  expect(withCommand(refused)).toBe(`no right to HMGET: ${refused}`);
});

test.each([
  "WRONGTYPE Operation",
  "NOPERM this user has no permissions to run the 'evalsha' command",
  `${refused} on @user_script:1.`,
])("a message that names the command, or another error, is unchanged: %s", (message) =>
  expect(withCommand(message)).toBe(message),
);

test("the line number is looked up in the given script", () => {
  const line = allocateScript.text.split("\n").findIndex((one) => one.includes("call('ZADD'")) + 1;
  expect(withCommand(`${refused} script: c91c, on @user_script:${line}.`, allocateScript)).toContain(
    "no right to ZADD:",
  );
});
