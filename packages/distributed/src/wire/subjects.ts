/** The prefix of every subject of ours. */
export const SUBJECT_PREFIX = "ratelimit.";
/** That the provider allows less: for agents of every kind. */
export const CAPACITY_SUBJECT = `${SUBJECT_PREFIX}capacity`;
/** Who is there and what they use and want: for agents of this kind. */
export const PRESENCE_SUBJECT = `${SUBJECT_PREFIX}presence`;

/** The major version: what a message says that carries a higher one we cannot know. */
export const VERSION = 1;

export const LONGEST_ID = 200;
export const LONGEST_NAME = 256;
/** We send no larger message, and hear none that is twice as large. */
export const MOST_BYTES_SENT = 65_536;
export const MOST_BYTES_HEARD = 2 * MOST_BYTES_SENT;
/** Stands for no limit where agents exchange numbers: nobody comes near it. */
export const UNLIMITED = 1e12;
/** What names of tenant keys' quotas begin with: escaped keys follow a slash, hashes of long keys a number sign. */
export const KEY_PREFIX = "@key";
