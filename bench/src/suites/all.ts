import type { Suite } from "../suite.ts";
import { acquire } from "./acquire.ts";
import { acquireMany } from "./acquire-many.ts";
import { memory } from "./memory.ts";
import { size } from "./size.ts";
import { tryAcquire } from "./try-acquire.ts";

/** Every suite, in the order of the report. A new one is a file beside this and a line here. */
export const allSuites: readonly Suite[] = [tryAcquire, acquire, acquireMany, memory, size];
