import { expect, test } from "vitest";
import { aptOptions, selectPackages } from "../src/provision/debian.ts";

const plan = `Reading package lists...
Inst gcc-12-base (12.2.0-14 Debian:12.11/stable [amd64])
Inst libc6 (2.36-9 Debian:12.11/stable [amd64])
Inst libssl3 (3.0.22 Debian:12.11/stable [amd64])
Inst libperl5.36 (5.36.0 Debian:12.11/stable [amd64])
Inst zlib1g (1:1.2.13 Debian:12.11/stable [amd64])
Inst adduser (3.134 Debian:12.11/stable [all])
Inst redis-tools (5:7.0.15 Debian:12.11/stable [amd64])
Inst redis-server (5:7.0.15 Debian:12.11/stable [amd64])
Conf redis-server (5:7.0.15 Debian:12.11/stable [amd64])
`;

test("requested packages and libraries are fetched, the C library and all others are not", () => {
  const recipe = { name: "redis", packages: ["redis-server", "redis-tools"], without: ["libperl5.36"] };
  expect(selectPackages(plan, { ...recipe, check: ["redis-server"] })).toEqual([
    "libssl3",
    "zlib1g",
    "redis-tools",
    "redis-server",
  ]);
});

test("apt writes only to the cache folder", () => {
  const options = aptOptions("/cache/apt").join(" ");
  expect(options).toContain("Dir::State::Lists=/cache/apt/lists");
  expect(options).toContain("Dir::State::status=/cache/apt/status");
  expect(options).toContain("Dir::Cache=/cache/apt/cache");
});
