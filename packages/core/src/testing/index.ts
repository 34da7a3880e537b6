export { ManualClock } from "./manual-clock.ts";
export { type MemorySyncStoreOptions, memorySyncStore, SyncMemory } from "./memory-sync-store.ts";
export { seededRandom } from "./seeded-random.ts";
export { settlePromises } from "./settle-promises.ts";
export { ShareMemory } from "./share-memory.ts";
export { type ShareStoreSuiteOptions, shareStoreSuite } from "./share-store-suite.ts";
export { syncStoreSuite } from "./sync-store-suite.ts";
export type { SyncStoreSuiteOptions, SyncTestFunction } from "./sync-world.ts";
