import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the checkout. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Downloaded runtimes, one folder for each version. Git ignores it. */
export const cache = join(root, ".cache/runtimes");

/** The output of every program that failed, and the results of the unit tests. */
export const logs = join(cache, "logs");
