import { join } from "node:path";
import { root } from "@hivepace/checks";
import { buildSite } from "./build-site.ts";

const [outDir = join(root, "apps/site/dist")] = process.argv.slice(2);
await buildSite(outDir);
console.log(`The site is in ${outDir}.`);
