import { describe, expect, test } from "vitest";
import { commands } from "../src/command/commands.ts";
import { globalHelp, runCommand } from "../src/command/run-command.ts";
import { fakeWorld } from "./support/fake-world.ts";

async function run(args: readonly string[], env = {}, signal?: AbortSignal) {
  const { world, written } = fakeWorld(env, signal);
  const code = await runCommand(args, world);
  return { code, ...written };
}

/** Returns the options that a help text lists, each with whether it takes a value. */
function optionsIn(help: string): [name: string, takesValue: boolean][] {
  return [...help.matchAll(/^ {2}--([a-z-]+)( <| [0-9])?/gm)].map(([, name = "", value]) => [
    name,
    value !== undefined,
  ]);
}

describe.each(Object.keys(commands))("%s", (name) => {
  test("its help states the usage, and exits with 0", async () => {
    const asked = await run([name, "--help"]);
    expect(asked).toMatchObject({ code: 0, err: "" });
    expect(asked.out).toMatch(new RegExp(`^hivepace ${name}`));
    expect(await run(["help", name])).toEqual(asked);
    expect(await run([name, "-h"])).toEqual(asked);
    expect(await run([name, "--bus", "nonsense", "--help"])).toEqual(asked);
  });

  test("every option of its help is accepted, with a value where the help shows one", async () => {
    const { out } = await run([name, "--help"]);
    const options = optionsIn(out);
    expect(options.map(([option]) => option)).toEqual(expect.arrayContaining(["json", "help"]));
    for (const [option, takesValue] of options) {
      // The unknown option at the end must be the only complaint.
      const { code, err } = await run([name, `--${option}`, ...(takesValue ? ["1"] : []), "--no-such-option"]);
      if (option !== "help")
        expect({ option, code, err }).toMatchObject({ code: 2, err: expect.stringContaining("--no-such-option") });
    }
  });

  test("an unknown option is rejected with 2 and named on stderr only", async () => {
    const { code, out, err } = await run([name, "--no-such-option"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("--no-such-option");
    expect(err).not.toMatch(/^\s+at /m);
  });

  test("its help lists every option", async () => {
    const module = (await commands[name]?.load()) as { options?: object } | undefined;
    const { out } = await run([name, "--help"]);
    if (module?.options) expect(optionsIn(out).map(([option]) => option)).toEqual(Object.keys(module.options));
  });

  test("the list of commands has a line for it", () => {
    expect(globalHelp).toMatch(new RegExp(`^ {2}${name} +\\S`, "m"));
  });
});

test("every form of the global help prints the same, as text and as JSON", async () => {
  expect(await run(["--help"])).toEqual({ code: 0, out: globalHelp, err: "" });
  expect(await run(["-h"])).toEqual(await run(["help"]));
  expect(JSON.parse((await run(["--help", "--json"])).out)).toEqual({ help: globalHelp });
});

test("without a command the global help goes to stderr, and the exit code is 2", async () => {
  expect(await run([])).toEqual({ code: 2, out: "", err: globalHelp });
});

test("a misspelt option names the nearest one, and an option without its value says so", async () => {
  expect((await run(["status", "--buss", "x"])).err).toContain("unknown option --buss: did you mean --bus?");
  for (const args of [["--bus"], ["--bus", "--timeout", "5s"]])
    expect((await run(["status", ...args])).err).toMatch(/^hivepace: --bus needs a value$/m);
});

test("an unknown command exits with 2 and names the most similar one", async () => {
  expect(await run(["wach"])).toMatchObject({ code: 2, err: expect.stringContaining("did you mean watch?") });
  expect(await run(["constructor"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("the commands are demo, dashboard"),
  });
});

test("the version is that of the package", async () => {
  const versions = JSON.parse((await run(["--version", "--json"])).out);
  expect(versions).toEqual({ hivepace: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node });
  expect((await run(["--version"])).out).toBe(`hivepace ${versions.hivepace}, node ${versions.node}\n`);
});

test.each([
  [["status"], {}, /--bus .* --redis/],
  [["watch"], {}, /HIVEPACE_BUS/],
  [["watch", "extra", "--bus", "nats://a"], {}, /unexpected argument "extra"/],
  [["watch", "--bus", "http://a"], {}, /^hivepace: --bus must be nats:.* got "http:\/\/a"$/m],
  [["watch", "--bus", "memory"], {}, /--bus must be the address of a broker/],
  [["watch"], { HIVEPACE_BUS: "redis://me:sec/secret@a/x" }, /^(?![\s\S]*secret)[\s\S]*HIVEPACE_BUS must be redis/],
  [["watch", "--bus", "nats://a", "--for", "soon"], {}, /--for must be a duration/],
  [["watch", "--bus", "nats://a", "--timeout", "0"], {}, /--timeout must be a duration/],
  [["watch", "--secret", "x"], {}, /Set HIVEPACE_SECRET/],
  [["status", "--redis", "localhost"], {}, /--redis must be redis:/],
  [["status", "--redis", "redis://a", "--namespace", ""], {}, /--namespace must not be empty/],
  [["status", "--redis", "redis://a", "--endpoint", ":5"], {}, /--endpoint must be id/],
  [["status", "--redis", "redis://a", "--endpoint", "eu:0"], {}, /--endpoint must be id/],
  [["announce", "--bus", "nats://a"], {}, /no resource given/],
  [["announce", "eu", "--bus", "nats://a"], {}, /--reason is required/],
  [["park", "--bus", "nats://a"], {}, /no endpoint given/],
  [["park", "eu", "--bus", "nats://a"], {}, /--reason is required/],
  [["unpark", "eu", "--for", "1m", "--bus", "nats://a"], {}, /--for is an option of hivepace park only/],
  [["announce", "eu", "--reason", "x", "--capacity", "0.5", "--bus", "nats://a"], {}, /--capacity must be a whole/],
  [["doctor"], {}, /--bus .* --redis/],
  [["doctor", "--bus", "nats://a", "--expect", "some"], {}, /--expect must be a whole number/],
  [["simulate", "--agents", "none"], {}, /--agents must be a whole number/],
])("%j exits with 2 and an explanation", async (args, env, words) => {
  const { code, out, err } = await run(args, env);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(words);
});

test("with --json an error is an object on stderr", async () => {
  const { code, out, err } = await run(["watch", "--json"]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(JSON.parse(err)).toEqual({ error: { code: "USAGE", message: expect.stringContaining("no bus given") } });
});

test("an unreachable broker exits with 1 and a sentence, with a stack only in debug mode", async () => {
  const args = ["status", "--bus", "nats://127.0.0.1:1", "--namespace", "n"];
  const { code, err } = await run(args);
  expect(code).toBe(1);
  expect(err).toMatch(/^hivepace: the nats bus is unavailable: /m);
  expect(err).not.toMatch(/^\s+at /m);
  expect((await run(args, { HIVEPACE_DEBUG: "1" })).err).toMatch(/^\s+at /m);
});

test("an interrupted command exits with 130", async () => {
  const { code } = await run(
    ["status", "--bus", "nats://127.0.0.1:1"],
    {},
    AbortSignal.abort(new Error("interrupted")),
  );
  expect(code).toBe(130);
});

describe("no command prints a password with a slash", () => {
  const login = "me:hunter2/hunter2?#@hunter2";
  const broker = ["watch", "status", "doctor", "announce eu --reason x --pause 1s"].flatMap((command) =>
    ["nats", "redis", "kafka"].map((scheme) => `${command} --timeout 200ms --bus ${scheme}://${login}@127.0.0.1:1`),
  );
  const redis = ["status", "doctor"].map(
    (command) => `${command} --timeout 200ms --redis redis://${login}@127.0.0.1:1/2`,
  );
  const wrong = [
    `redis://${login}@a`,
    `status redis://${login}@a`,
    `status --redis redis://${login}@a/x`,
    `status --redis ${login}@a`,
    `watch --bus nats:${login}@a`,
    `watch --bus ${login}@a`,
  ];

  test.each([...broker, ...redis, ...wrong])("%s", async (line) => {
    for (const more of [[], ["--json"]]) {
      const { code, out, err } = await run([...line.split(" "), ...more], { HIVEPACE_DEBUG: "1" });
      expect(code).toBeGreaterThan(0);
      expect(out + err).not.toContain("hunter2");
    }
  });
});
