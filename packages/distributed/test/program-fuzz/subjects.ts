import { type Fuzzer, fuzzerOf } from "./core/fuzzer.ts";
import { extremeHive, hive, hiveOperations } from "./hive/subject.ts";
import { extremeLimiter, limiter } from "./limiter/subject.ts";
import { memoryLimiter } from "./memory-limiter/subject.ts";
import { rateManager } from "./rate-manager/subject.ts";

/** All subjects of the fuzzer. */
export const FUZZERS: readonly Fuzzer[] = [
  fuzzerOf(hive),
  fuzzerOf(hiveOperations),
  fuzzerOf(limiter),
  fuzzerOf(memoryLimiter),
  fuzzerOf(rateManager),
  fuzzerOf(extremeHive),
  fuzzerOf(extremeLimiter),
];
