import { HivepaceError } from "./errors.ts";

/** The store was closed, before the call or while it was under way. */
export class SyncClosedError extends HivepaceError {
  override readonly name = "SyncClosedError";
  declare readonly code: "SYNC_CLOSED";

  constructor(store: string) {
    super("SYNC_CLOSED", `the ${store} store is closed`);
  }
}

/** The store is not there now, refused, or did not answer in time. What was reported may or may not have been counted. */
export class SyncUnavailableError extends HivepaceError {
  override readonly name = "SyncUnavailableError";
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
