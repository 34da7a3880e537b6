/** Builds what is no code into the folder of the programs: the dashboard's page, and a licence. */
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buildPage } from "@hivepace/dashboard/build-page";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("which folder?");
void buildPage(join(folder, "dashboard-page"));

/** The demo's agents have OpenTelemetry's SDK inside, whose licence has to come along. */
const { resolve } = createRequire(import.meta.resolve("@hivepace/swarm"));
const sdk = dirname(resolve("@opentelemetry/sdk-metrics/package.json"));
copyFileSync(join(sdk, "LICENSE"), join(folder, "LICENSE-opentelemetry.txt"));
