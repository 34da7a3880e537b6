/** Prefix of every subject. */
export const SUBJECT_PREFIX = "ratelimit.";
/** Subject of capacity announcements, for agents of every implementation. */
export const CAPACITY_SUBJECT = `${SUBJECT_PREFIX}capacity`;
/** Subject of agents' states: membership, usage and demand. For agents of this implementation. */
export const PRESENCE_SUBJECT = `${SUBJECT_PREFIX}presence`;

/** Represents "no limit" in messages, too. */
export { UNLIMITED } from "../engine/index.ts";

/** Major version of the protocol. Agents cannot interpret messages with a higher one. */
export const VERSION = 1;

export const LONGEST_ID = 200;
export const LONGEST_NAME = 256;
/** Largest size of a sent message in bytes. Received messages may be up to twice as large. */
export const MOST_BYTES_SENT = 65_536;
export const MOST_BYTES_HEARD = 2 * MOST_BYTES_SENT;
/**
 * Prefix of the names of tenant keys' quotas: a slash precedes an escaped key, a number sign the hash of a long one.
 */
export const KEY_PREFIX = "@key";
