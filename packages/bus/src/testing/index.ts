export { busSuite } from "./bus-suite.ts";
export { type Chaos, type ChaosBus, type ChaosOptions, chaosBus } from "./chaos-bus.ts";
export { promisesTable } from "./promises-table.ts";
export type { BusSuiteOptions, TestFunction } from "./world.ts";
