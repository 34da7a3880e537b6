/** The part of `process.versions` that is used. Bun and Deno also report the version of Node that they emulate. */
export interface RuntimeVersions {
  readonly node: string;
  readonly bun?: string | undefined;
  readonly deno?: string | undefined;
}

/** Returns the runtime that executes this program, from `process.versions`. */
export function runtimeOf({ node, bun, deno }: RuntimeVersions): { name: "node" | "bun" | "deno"; version: string } {
  if (bun !== undefined) return { name: "bun", version: bun };
  if (deno !== undefined) return { name: "deno", version: deno };
  return { name: "node", version: node };
}
