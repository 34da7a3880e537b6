import { expect, test } from "vitest";
import { type Availability, unmet } from "../src/availability.ts";
import type { Origin } from "../src/provision/source.ts";

const had = (origin: Origin): Availability => ({ kind: "kafka", any: { kind: "kafka", origin, detail: "" } });
const required = new Set(["kafka"] as const);

test("a requirement is met by a server of any origin but a mock", () => {
  for (const origin of ["address", "path", "cache", "docker"] as const)
    expect(unmet(required, [had(origin)])).toEqual([]);
  expect(unmet(required, [had("mock")])).toEqual([had("mock")]);
  expect(unmet(required, [{ kind: "kafka", missing: "nowhere" }])).toHaveLength(1);
});

test("a kind that is not required may be missing", () => {
  expect(unmet(required, [{ kind: "redis", missing: "nowhere" }, had("cache")])).toEqual([]);
});
