export type Kind = "node" | "bun" | "deno";

/** A JavaScript runtime in one exact version, as the npm package of that name releases it. */
export interface Runtime {
  /** The name on the command line. */
  readonly id: string;
  readonly kind: Kind;
  readonly version: string;
}

/**
 * The runtimes on which the packages are tested. `runtimes --outdated` lists newer releases; the table in
 * docs/runtimes.md names the same versions.
 */
export const runtimes: readonly Runtime[] = [
  { id: "node-20", kind: "node", version: "20.20.2" },
  { id: "node-22", kind: "node", version: "22.23.3" },
  { id: "node-24", kind: "node", version: "24.21.0" },
  { id: "node-26", kind: "node", version: "26.10.0" },
  { id: "bun", kind: "bun", version: "1.4.4" },
  { id: "deno", kind: "deno", version: "2.9.5" },
];

/** The runtimes with these ids, in the order of the table. Throws a RangeError that names an unknown id. */
export function chooseRuntimes(ids: readonly string[], from: readonly Runtime[] = runtimes): readonly Runtime[] {
  for (const id of ids)
    if (!from.some((runtime) => runtime.id === id))
      throw new RangeError(
        `--only: unknown runtime ${JSON.stringify(id)}; known are ${from.map((one) => one.id).join(", ")}`,
      );
  return from.filter(({ id }) => ids.includes(id));
}
