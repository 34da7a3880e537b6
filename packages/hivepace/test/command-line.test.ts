import { describe, expect, test } from "vitest";
import { commands } from "../src/command/commands.ts";
import { globalHelp, runCommand } from "../src/command/run-command.ts";
import { fakeWorld } from "./support/fake-world.ts";

async function run(args: readonly string[], env = {}, signal?: AbortSignal) {
  const { world, written } = fakeWorld(env, signal);
  const code = await runCommand(args, world);
  return { code, ...written };
}

/** What a command's help calls an option, by the lines that begin with it; true for those that take a value. */
function optionsIn(help: string): [name: string, takesValue: boolean][] {
  return [...help.matchAll(/^ {2}--([a-z-]+)( <| [0-9])?/gm)].map(([, name = "", value]) => [
    name,
    value !== undefined,
  ]);
}

describe.each(Object.keys(commands))("%s", (name) => {
  test("its help says how it is called, and ends with 0", async () => {
    const asked = await run([name, "--help"]);
    expect(asked).toMatchObject({ code: 0, err: "" });
    expect(asked.out).toMatch(new RegExp(`^hivepace ${name}`));
    expect(await run(["help", name])).toEqual(asked);
    expect(await run([name, "-h"])).toEqual(asked);
    expect(await run([name, "--bus", "nonsense", "--help"])).toEqual(asked);
  });

  test("every option of its help is one, and takes a value where it says so", async () => {
    const { out } = await run([name, "--help"]);
    const options = optionsIn(out);
    expect(options.map(([option]) => option)).toEqual(expect.arrayContaining(["json", "help"]));
    for (const [option, takesValue] of options) {
      // With one more that is none: that alone must be what is wrong.
      const { code, err } = await run([name, `--${option}`, ...(takesValue ? ["1"] : []), "--no-such-option"]);
      if (option !== "help")
        expect({ option, code, err }).toMatchObject({ code: 2, err: expect.stringContaining("--no-such-option") });
    }
  });

  test("what is no option is refused with 2, in a line that names it, on stderr alone", async () => {
    const { code, out, err } = await run([name, "--no-such-option"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("--no-such-option");
    expect(err).not.toMatch(/^\s+at /m);
  });

  test("no option is missing in its help", async () => {
    const module = (await commands[name]?.load()) as { options?: object } | undefined;
    const { out } = await run([name, "--help"]);
    if (module?.options) expect(optionsIn(out).map(([option]) => option)).toEqual(Object.keys(module.options));
  });

  test("it has a line in the list of all", () => {
    expect(globalHelp).toMatch(new RegExp(`^ {2}${name} +\\S`, "m"));
  });
});

test("the help of all is the same by every name, in text and as JSON", async () => {
  expect(await run(["--help"])).toEqual({ code: 0, out: globalHelp, err: "" });
  expect(await run(["-h"])).toEqual(await run(["help"]));
  expect(JSON.parse((await run(["--help", "--json"])).out)).toEqual({ help: globalHelp });
});

test("without a command it says what there is, on stderr, and ends with 2", async () => {
  expect(await run([])).toEqual({ code: 2, out: "", err: globalHelp });
});

test("a command that does not exist ends with 2 and names the nearest", async () => {
  expect(await run(["wach"])).toMatchObject({ code: 2, err: expect.stringContaining("did you mean watch?") });
  expect(await run(["constructor"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("there are demo, dashboard"),
  });
});

test("its version is the package's", async () => {
  const versions = JSON.parse((await run(["--version", "--json"])).out);
  expect(versions).toEqual({ hivepace: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node });
  expect((await run(["--version"])).out).toBe(`hivepace ${versions.hivepace}, node ${versions.node}\n`);
});

test.each([
  [["status"], {}, /--bus .* --redis/],
  [["watch"], {}, /HIVEPACE_BUS/],
  [["watch", "extra", "--bus", "nats://a"], {}, /no place for "extra"/],
  [["watch", "--bus", "http://a"], {}, /^hivepace: --bus must be nats:.* got "http:\/\/a"$/m],
  [["watch", "--bus", "memory"], {}, /--bus must be a broker/],
  [["watch"], { HIVEPACE_BUS: "kafka://me:secret@a" }, /^(?![\s\S]*secret)[\s\S]*HIVEPACE_BUS must be kafka/],
  [["watch", "--bus", "nats://a", "--for", "soon"], {}, /--for must be a duration/],
  [["watch", "--bus", "nats://a", "--timeout", "0"], {}, /--timeout must be a duration/],
  [["watch", "--secret", "x"], {}, /Set HIVEPACE_SECRET/],
  [["status", "--redis", "localhost"], {}, /--redis must be redis:/],
  [["status", "--redis", "redis://a", "--namespace", ""], {}, /--namespace must not be empty/],
  [["status", "--redis", "redis://a", "--endpoint", ":5"], {}, /--endpoint must be id/],
  [["status", "--redis", "redis://a", "--endpoint", "eu:0"], {}, /--endpoint must be id/],
  [["announce", "--bus", "nats://a"], {}, /of what\?/],
  [["announce", "eu", "--bus", "nats://a"], {}, /--reason is needed/],
  [["announce", "eu", "--reason", "x", "--capacity", "0.5", "--bus", "nats://a"], {}, /--capacity must be a whole/],
  [["doctor"], {}, /--bus .* --redis/],
  [["doctor", "--bus", "nats://a", "--expect", "some"], {}, /--expect must be a whole number/],
  [["simulate", "--agents", "none"], {}, /--agents must be a whole number/],
])("%j is wrong usage: 2, and says what about it", async (args, env, words) => {
  const { code, out, err } = await run(args, env);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(words);
});

test("with --json an error is an object on stderr", async () => {
  const { code, out, err } = await run(["watch", "--json"]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(JSON.parse(err)).toEqual({ error: { code: "USAGE", message: expect.stringContaining("which bus?") } });
});

test("a broker that is not there is a sentence and 1, without a stack unless somebody looks for it", async () => {
  const args = ["status", "--bus", "nats://127.0.0.1:1", "--namespace", "n"];
  const { code, err } = await run(args);
  expect(code).toBe(1);
  expect(err).toMatch(/^hivepace: the nats bus is unavailable: /m);
  expect(err).not.toMatch(/^\s+at /m);
  expect((await run(args, { HIVEPACE_DEBUG: "1" })).err).toMatch(/^\s+at /m);
});

test("what was interrupted ends with 130", async () => {
  const { code } = await run(
    ["status", "--bus", "nats://127.0.0.1:1"],
    {},
    AbortSignal.abort(new Error("interrupted")),
  );
  expect(code).toBe(130);
});
