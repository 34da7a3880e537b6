import type { TestProject } from "vitest/node";
import { type Availability, survey, unmet } from "./availability.ts";
import { type Kind, kinds } from "./kinds.ts";
import { parseRequire } from "./require.ts";

declare module "vitest" {
  interface ProvidedContext {
    hivepaceServers: readonly Availability[];
  }
}

// Vitest loads this file once per project in one process, and all projects share the results.
const key: unique symbol = Symbol.for("@hivepace/servers surveys");
const shared = globalThis as { [key]?: Map<Kind, Promise<Availability>> };
shared[key] ??= new Map();
const surveys = shared[key];

/** Vitest's globalSetup: provisions servers before the first test, and prints which are missing. */
export async function setup(project: TestProject): Promise<void> {
  const { HIVEPACE_REQUIRE } = process.env;
  const required = parseRequire(HIVEPACE_REQUIRE);
  const wanted = kinds.filter((kind) => kind !== "chromium" || project.name === "browser" || required.has(kind));
  const all = await Promise.all(wanted.map(surveyOnce));
  const failed = unmet(required, all);
  if (failed.length > 0) {
    throw new Error(
      `HIVEPACE_REQUIRE=${HIVEPACE_REQUIRE} is not met:\n${failed.map(({ missing }) => missing).join("\n")}`,
    );
  }
  project.provide("hivepaceServers", all);
}

function surveyOnce(kind: Kind): Promise<Availability> {
  let result = surveys.get(kind);
  if (result === undefined) {
    result = survey(kind).then((availability) => {
      if (availability.missing !== undefined) console.error(`\n[servers] SKIPPING tests: ${availability.missing}\n`);
      return availability;
    });
    surveys.set(kind, result);
  }
  return result;
}
