import { isKind, type Kind, kinds } from "./kinds.ts";

/** Parses `HIVEPACE_REQUIRE=redis,nats`: for these kinds, a missing server is a failure instead of a skip. */
export function parseRequire(value: string | undefined): ReadonlySet<Kind> {
  const names = (value ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.filter((name) => !isKind(name));
  if (unknown.length > 0) {
    throw new Error(`HIVEPACE_REQUIRE must list some of ${kinds.join(", ")}; received ${JSON.stringify(value)}`);
  }
  return new Set(names.filter(isKind));
}
