import { expect, test } from "vitest";
import { checkProgram, violationOf } from "./program-fuzz/check-program.ts";
import { generate } from "./program-fuzz/generate.ts";
import type { Program } from "./program-fuzz/program.ts";

/** A program whose last command is refused by every hive. */
const broken: Program = {
  ...generate(4),
  endpoints: [{ id: "eu", rpmLimit: 5 }, { id: "us" }],
  commands: [...generate(4).commands, { do: "reconfigure", endpoints: [{ id: "eu", rpmLimit: -1 }] }],
};

test("the same seed gives the same program, another seed another", () => {
  expect(generate(7)).toEqual(generate(7));
  expect(generate(8)).not.toEqual(generate(7));
});

test("a program that breaks no law is fine", async () => {
  expect(await violationOf(generate(4))).toBeUndefined();
});

test("a failure names its seed, the command and the error, and only what it takes", async () => {
  const error = await checkProgram(broken).then(
    () => undefined,
    (reason: Error) => reason,
  );
  const [first, ...rest] = error?.message.split("\n") ?? [];
  expect(first).toMatch(/^seed 4: command 1, \{"do":"reconfigure".*rpmLimit must be/);
  expect(rest.slice(-2)).toEqual([
    '{"seed":4,"hives":1,"bus":"none","endpoints":[{"id":"eu","rpmLimit":5}],"keys":{},"options":{}}',
    '  {"do":"reconfigure","endpoints":[{"id":"eu","rpmLimit":-1}]}',
  ]);
});
