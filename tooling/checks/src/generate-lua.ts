/** Writes the TypeScript module that carries the Redis scripts of `@hivepace/sync-redis`. */
import { writeFileSync } from "node:fs";
import { generatedFile, generateModule } from "./lua-scripts.ts";

writeFileSync(generatedFile, generateModule());
