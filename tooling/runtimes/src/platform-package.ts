import type { Kind } from "./runtimes.ts";

/** An npm package that carries the program of a runtime for one platform, and where the program stands in it. */
export interface PlatformPackage {
  readonly name: string;
  readonly program: string;
}

const ARCHITECTURES: Readonly<Record<string, { bun: string; deno: string }>> = {
  x64: { bun: "x64", deno: "x64" },
  arm64: { bun: "aarch64", deno: "arm64" },
};

/**
 * The packages `node`, `bun` and `deno` hold no program: a script that npm runs after the installation fetches or links
 * the one of a platform package. We install that platform package itself, so that no script runs and nothing but the npm
 * registry is needed. Throws an Error on a platform that is not prepared.
 */
export function platformPackage(kind: Kind, platform: string, arch: string): PlatformPackage {
  const names = ARCHITECTURES[arch];
  if (names === undefined || (platform !== "linux" && platform !== "darwin"))
    throw new Error(`no runtime is prepared for ${platform} on ${arch}: use Linux or macOS on x64 or arm64`);
  if (kind === "bun") return { name: `@oven/bun-${platform}-${names.bun}`, program: "bin/bun" };
  if (kind === "deno")
    return { name: `@deno/${platform}-${names.deno}${platform === "linux" ? "-glibc" : ""}`, program: "deno" };
  // Under the shorter name, macOS on arm64 has only releases before Node 20.
  const prefix = platform === "darwin" && arch === "arm64" ? "node-bin" : "node";
  return { name: `${prefix}-${platform}-${arch}`, program: "bin/node" };
}
