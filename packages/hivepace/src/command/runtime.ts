/** What we read of `process.versions`. Bun and Deno also name the Node whose interfaces they offer. */
export interface RuntimeVersions {
  readonly node: string;
  readonly bun?: string | undefined;
  readonly deno?: string | undefined;
}

/** The runtime that really runs this program, as `process.versions` tells it. */
export function runtimeOf({ node, bun, deno }: RuntimeVersions): { name: "node" | "bun" | "deno"; version: string } {
  if (bun !== undefined) return { name: "bun", version: bun };
  if (deno !== undefined) return { name: "deno", version: deno };
  return { name: "node", version: node };
}
