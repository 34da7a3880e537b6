import { HivepaceError } from "../errors.ts";

/** The shared memory has no room for another id: every record was set explicitly or used in this window. */
export class TableFullError extends HivepaceError {
  override readonly name = "TableFullError";
  static readonly code = "TABLE_FULL";
  declare readonly code: "TABLE_FULL";
  /** Number of ids that the shared memory can hold. */
  readonly maxIds: number;

  constructor(maxIds: number) {
    super("TABLE_FULL", `the shared memory for ${maxIds} ids is full: call share() with a larger maxIds`);
    this.maxIds = maxIds;
  }
}

/**
 * This environment allows no memory between threads: it has no WebAssembly, or it is a browser page that is not
 * cross-origin isolated.
 */
export class SharingUnavailableError extends HivepaceError {
  override readonly name = "SharingUnavailableError";
  static readonly code = "SHARING_UNAVAILABLE";
  declare readonly code: "SHARING_UNAVAILABLE";

  constructor(cause: unknown) {
    super("SHARING_UNAVAILABLE", "shared memory or WebAssembly is not available here", { cause });
  }
}

declare module "../errors.ts" {
  interface HivepaceErrorCodes {
    TABLE_FULL: TableFullError;
    SHARING_UNAVAILABLE: SharingUnavailableError;
  }
}
