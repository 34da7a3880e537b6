import { expect, test } from "vitest";
import { syncScript, withCommand } from "./script.ts";
import { shareScript } from "./share-script.ts";

const refused = "ERR The user executing the script can't run this command or subcommand";

test.each(["TIME", "DEL", "HSET", "PEXPIRE"])(
  "a refusal of %s by its line in the script is told by its name",
  (name) => {
    const line = syncScript.text.split("\n").findIndex((one) => one.includes(`call('${name}'`)) + 1;
    expect(withCommand(`${refused} script: c91c, on @user_script:${line}.`)).toMatch(
      new RegExp(`^no right to ${name}: ERR`),
    );
  },
);

test("one without a line is of what catches its errors", () => {
  expect(withCommand(refused)).toBe(`no right to HMGET: ${refused}`);
});

test.each([
  "WRONGTYPE Operation",
  "NOPERM this user has no permissions to run the 'evalsha' command",
  `${refused} on @user_script:1.`,
])("what says it by itself, or cannot be told, stays as it is: %s", (message) =>
  expect(withCommand(message)).toBe(message),
);

test("of the other script it is the command of that one", () => {
  const line = shareScript.text.split("\n").findIndex((one) => one.includes("call('ZADD'")) + 1;
  expect(withCommand(`${refused} script: c91c, on @user_script:${line}.`, shareScript)).toContain("no right to ZADD:");
});
