/**
 * Where everything stands in the memory of the counters, in 32-bit words. One thread holds it in a plain buffer, several
 * threads in shared memory; the records are the same, only further apart there.
 *
 *     header   nowhere │ VERSION │ PHASE
 *     record   A: counts, tokens, last │ STATE │ B: counts, tokens, last │ IN_FLIGHT │ limits … │ FLAGS
 *              and in shared memory: │ NAME_LENGTH │ NAME: UTF-16 …
 */

/** A record that is nobody's, stays empty and never lives: where what is not there any more is said to be. */
export const NOWHERE = 0;
/** Grows when endpoints come or go and when windows are shifted: then every thread looks again. */
export const VERSION = 12;
/** How the windows were shifted, 64 bits: see window-clock.ts. */
export const PHASE = 14;
export const HEADER_SIZE = 64;

/** A 64-bit counter (packed-counters.ts), and the number of the window that it was last made ready for. */
export const TOKENS = 1;
export const LAST = 2;
/** Whose record this is: the generation and the phase of its life (record.ts). */
export const STATE = 3;
/** The second counter, for odd windows; only sliding windows use it. */
export const ODD = 4;
/** Upper 8 bits: which life of the record this counts for; lower 24: requests that were allowed and have not ended. */
export const IN_FLIGHT = 7;
/** The settings of a record: four words. */
export const REQUEST_LIMIT = 8;
export const TOKEN_LIMIT = 9;
/** -1: they are not counted. */
export const IN_FLIGHT_LIMIT = 10;
export const FLAGS = 11;
/** A record in a plain buffer: 48 bytes. */
export const RECORD_SIZE = 12;

export const NAME_LENGTH = 12;
export const NAME = 13;
/** A record in shared memory: 512 bytes, so that different records are on different cache lines, with room for the name. */
export const SHARED_RECORD_SIZE = 128;
/** In UTF-16 units. Fixed, because a heap for names would need a lock. */
export const LONGEST_NAME = (SHARED_RECORD_SIZE - NAME) * 2;

/** Made on demand: may be given to another id while it is idle. */
export const ON_DEMAND = 1;
/** This endpoint also limits its input or output tokens, in a record of its own: input as tokens, output as requests. */
export const WITH_SPLIT = 2;
/** This model draws from a pool. Its record counts nothing; instead of a limit of requests it has the pool's number. */
export const POOLED = 4;

/** This limit is below one in a window: 1 in so many windows as stand in the upper 24 bits of the flags. */
export const SLOW_REQUESTS = 8;
export const SLOW_TOKENS = 16;
/** Where the number of windows begins in the flags; 0 there is one window. */
export const STRIDE_SHIFT = 8;
export const LONGEST_STRIDE = 0xff_ffff;

/** Counts stop here, and a limit of this much is none. */
export const MOST_TOKENS = 0xffff_ffff;
export const MOST_REQUESTS = 0xff_ffff;
