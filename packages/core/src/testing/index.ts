export { AllocatorMemory } from "./allocator/memory.ts";
export { type AllocatorSuiteOptions, allocatorSuite } from "./allocator/suite.ts";
export { ManualClock } from "./manual-clock.ts";
export { type MemorySyncStoreOptions, memorySyncStore, SyncMemory } from "./memory-sync-store.ts";
export { seededRandom } from "./seeded-random.ts";
export { settlePromises } from "./settle-promises.ts";
export { syncStoreSuite } from "./sync-store-suite.ts";
export type { SyncStoreSuiteOptions, SyncTestFunction } from "./sync-world.ts";
