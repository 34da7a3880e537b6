import type { Kind } from "./runtimes.ts";

/** An npm package that contains the program of a runtime for one platform, and the program's path in it. */
export interface PlatformPackage {
  readonly name: string;
  readonly program: string;
}

const ARCHITECTURES: Readonly<Record<string, { bun: string; deno: string }>> = {
  x64: { bun: "x64", deno: "x64" },
  arm64: { bun: "aarch64", deno: "arm64" },
};

/**
 * The packages `node`, `bun` and `deno` contain no program: their install script fetches or links that of a platform
 * package. The platform package is installed directly, so that no script runs and only the npm registry is needed.
 * Throws an Error on an unsupported platform.
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
