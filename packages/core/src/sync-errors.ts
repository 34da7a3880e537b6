import { HivepaceError } from "./errors.ts";

/** The store was closed before the call or during it. */
export class SyncClosedError extends HivepaceError {
  override readonly name = "SyncClosedError";
  static readonly code = "SYNC_CLOSED";
  declare readonly code: "SYNC_CLOSED";

  constructor(store: string) {
    super("SYNC_CLOSED", `the ${store} store is closed`);
  }
}

/**
 * The store is unreachable, refused the call, or did not answer in time. The report may or may not have been counted.
 */
export class SyncUnavailableError extends HivepaceError {
  override readonly name = "SyncUnavailableError";
  static readonly code = "SYNC_UNAVAILABLE";
  declare readonly code: "SYNC_UNAVAILABLE";

  constructor(store: string, detail: string, options?: { cause?: unknown }) {
    super("SYNC_UNAVAILABLE", `the ${store} store is unavailable: ${detail}`, options);
  }
}

declare module "./errors.ts" {
  interface HivepaceErrorCodes {
    SYNC_CLOSED: SyncClosedError;
    SYNC_UNAVAILABLE: SyncUnavailableError;
  }
}
