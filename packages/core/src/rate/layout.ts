/**
 * The memory layout of the counters, in 32-bit words. One thread keeps them in a plain buffer, several threads in
 * shared memory; the records are the same, but further apart there.
 *
 *     header   nowhere │ VERSION │ PHASE
 *     record   A: counts, tokens, last │ STATE │ B: counts, tokens, last │ IN_FLIGHT │ limits … │ FLAGS
 *              and in shared memory: │ NAME_LENGTH │ NAME: UTF-16 …
 */

/** A record that is never used and never LIVE; references to vanished records point to it. */
export const NOWHERE = 0;
/**
 * Counter that grows when endpoints are set or removed and when windows are shifted; every thread then looks up its
 * records again.
 */
export const VERSION = 12;
/** The shift of the windows, 64 bits: see window-clock.ts. */
export const PHASE = 14;
export const HEADER_SIZE = 64;

/**
 * The upper half of a 64-bit counter (packed-counters.ts), and the number of the window for which the counter was last
 * prepared.
 */
export const TOKENS = 1;
export const LAST = 2;
/** The generation and the lifecycle phase of the record (record.ts). */
export const STATE = 3;
/** The second counter, for odd windows; only sliding windows use it. */
export const ODD = 4;
/**
 * Upper 8 bits: the generation of the record that is counted; lower 24: requests that were allowed and have not ended.
 */
export const IN_FLIGHT = 7;
/** The settings of a record: four words. */
export const REQUEST_LIMIT = 8;
export const TOKEN_LIMIT = 9;
/** Limit of requests in flight; -1 if they are not counted. */
export const IN_FLIGHT_LIMIT = 10;
export const FLAGS = 11;
/** A record in a plain buffer: 48 bytes. */
export const RECORD_SIZE = 12;

export const NAME_LENGTH = 12;
export const NAME = 13;
/**
 * A record in shared memory: 512 bytes with room for the name, so that different records are on different cache lines.
 */
export const SHARED_RECORD_SIZE = 128;
/** In UTF-16 units. The length is fixed, because a heap for names would need a lock. */
export const LONGEST_NAME = (SHARED_RECORD_SIZE - NAME) * 2;

/** The record was created on demand and may be given to another id while it is idle. */
export const ON_DEMAND = 1;
/** The endpoint also limits input or output tokens, in a separate record: input as tokens, output as requests. */
export const WITH_SPLIT = 2;
/** The model draws from a pool. Its record counts nothing and holds the pool's number in place of the request limit. */
export const POOLED = 4;

/** The limit is below one per window: one in the number of windows that the upper 24 bits of the flags hold. */
export const SLOW_REQUESTS = 8;
export const SLOW_TOKENS = 16;
/** The position of the number of windows in the flags; 0 means one window. */
export const STRIDE_SHIFT = 8;
export const LONGEST_STRIDE = 0xff_ffff;

/** The largest counts; a limit of this size is no limit. */
export const MOST_TOKENS = 0xffff_ffff;
export const MOST_REQUESTS = 0xff_ffff;
