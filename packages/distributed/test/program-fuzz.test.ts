import { describe, expect, test } from "vitest";
import { checkProgram } from "./program-fuzz/core/fuzzer.ts";
import { violationOf } from "./program-fuzz/core/run.ts";
import { generate } from "./program-fuzz/hive/generate.ts";
import { hive } from "./program-fuzz/hive/subject.ts";
import { FUZZERS } from "./program-fuzz/subjects.ts";

/** Number of programs per subject. `test` runs hundreds more, and `verify` hundreds of thousands, with other seeds. */
const PROGRAMS: Readonly<Record<string, number>> = {
  hive: 30,
  "hive-operations": 30,
  limiter: 30,
  "memory-limiter": 100,
  "rate-manager": 100,
  "hive-extremes": 2,
  "limiter-extremes": 2,
};
/** Far from the seeds of `verify`, which begin at 1. */
const FIRST_SEED = 1_000_000;

/** A program whose last command every hive rejects. */
const broken = {
  ...generate(4),
  commands: [
    ...generate(4).commands,
    { do: "reconfigure", endpoints: [{ id: "eu", rpmLimit: -1 }] } as const,
    ...generate(5).commands,
  ],
};

describe.each(FUZZERS)("$name", ({ name, check }) => {
  test("random programs break no law", async () => {
    for (let i = 0; i < (PROGRAMS[name] ?? 0); i++) await check(FIRST_SEED + i);
  });
});

// Found by long runs. The calls waited for ever, for capacity held for a peer whose limits have another window.
test.each([84_128, 85_833])(
  "a call of the whole limit is served beside a peer with another window: limiter, seed %i",
  (seed) => FUZZERS.find(({ name }) => name === "limiter")?.check(seed),
);

test("the same seed gives the same program, another seed another", () => {
  expect(generate(7)).toEqual(generate(7));
  expect(generate(8)).not.toEqual(generate(7));
});

test("a failure names its law, the command that repeats it, and only the commands it takes", async () => {
  expect((await violationOf(hive, broken))?.law).toBe("typed errors");
  const error = await checkProgram(hive, broken).then(
    () => undefined,
    (reason: Error) => reason,
  );
  const [first, ...rest] = error?.message.split("\n") ?? [];
  expect(first).toMatch(/^hive, seed 4, law of typed errors: command 1, \{"do":"reconfigure".*rpmLimit must be/);
  expect(rest.slice(-3)).toEqual([
    expect.stringMatching(
      /^\{"hives":1,"bus":"none","store":"none","endpoints":\[\{[^}]*\}\],"keys":\{\},"options":\{\}\}$/,
    ),
    '  {"do":"reconfigure","endpoints":[{"id":"eu","rpmLimit":-1}]}',
    "repeat it with: npx -y pnpm@12.18.0 swarm:programs hive 4",
  ]);
});
