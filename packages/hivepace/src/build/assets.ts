/** Builds the non-code assets into the folder of the programs: the dashboard's page, and a licence. */
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buildPage } from "@hivepace/dashboard/build-page";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("no target folder given as the first argument");
void buildPage(join(folder, "dashboard-page"));

/** The bundle of the demo's agents contains OpenTelemetry's SDK, whose licence must be included. */
const { resolve } = createRequire(import.meta.resolve("@hivepace/swarm"));
const sdk = dirname(resolve("@opentelemetry/sdk-metrics/package.json"));
copyFileSync(join(sdk, "LICENSE"), join(folder, "LICENSE-opentelemetry.txt"));
