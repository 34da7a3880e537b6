/** Builds what is no code into the folder of the programs: the dashboard's page. */
import { join } from "node:path";
import { buildPage } from "@hivepace/dashboard/build-page";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("which folder?");
void buildPage(join(folder, "dashboard-page"));
