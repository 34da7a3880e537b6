import { expect, test } from "vitest";
import { runSimulate } from "./run-simulate.ts";

async function run(args: readonly string[], signal?: AbortSignal) {
  let [out, err] = ["", ""];
  const stdout = { write: (text: string) => (out += text) };
  const stderr = { write: (text: string) => (err += text) };
  const code = await runSimulate(args, { stdout, stderr, signal });
  return { code, out, err };
}

test("one scenario prints a line and a chart, and exits with 0", async () => {
  const { code, out } = await run(["--agents", "3", "--only", "^30 % of the limit$"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^ok {3}30 % of the limit, 3 agents/);
  expect(out).toContain("limit ┤");
});

test("--json prints one object per line, without a chart", async () => {
  const { out } = await run(["--agents", "3", "--only", "^30 % of the limit$", "--json"]);
  expect(JSON.parse(out)).toMatchObject({ name: "30 % of the limit", holds: true, agents: 3 });
});

test("--drive selects real hives and limiters", async () => {
  const drives = async (drive: string, only: string) =>
    (await run(["--agents", "2", "--only", only, "--json", "--drive", drive])).out
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line).drive]));
  expect(await drives("hive", "^30 % of the limit$")).toEqual(["hive"]);
  // A limiter's resource has one dimension.
  expect(await drives("limiter", "^(30 % of the limit|requests and tokens, .*)$")).toEqual(["limiter"]);
});

test("every run is in exactly one shard", async () => {
  const names = async (...args: string[]) => {
    const { out } = await run([
      "--agents",
      "2",
      "--only",
      "^(30 % of the limit$|alone|a limit of 3)",
      "--json",
      ...args,
    ]);
    return out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).name]));
  };
  const all = await names();
  expect(all).toHaveLength(3);
  const [first, second] = [await names("--shard", "1/2"), await names("--shard", "2/2")];
  expect([first, second].map(({ length }) => length)).toEqual([2, 1]);
  expect([...first, ...second].sort()).toEqual(all.sort());
  const { out: seeds } = await run(["--mixed", "3", "--shard", "1/2", "--json"]);
  expect(JSON.parse(seeds)).toMatchObject({ name: "mixed faults", seeds: 2 });
});

test("a pattern without match exits with 1, an invalid option with 2 and the usage, help with 0", async () => {
  expect(await run(["--only", "no such thing"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("no such thing"),
  });
  expect(await run(["--fast"])).toMatchObject({ code: 2, out: "", err: expect.stringContaining("--agents") });
  expect(await run(["--help"])).toMatchObject({ code: 0, out: expect.stringContaining("--agents"), err: "" });
});

test("after an interrupt no other run starts, and the exit code is 130", async () => {
  const { code, out } = await run(["--agents", "3"], AbortSignal.abort());
  expect(code).toBe(130);
  expect(out).toBe("");
});
