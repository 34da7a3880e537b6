import { HivepaceError } from "../errors.ts";

/** The memory that the threads share has no room for another id: everything in it is set, or was used in this window. */
export class TableFullError extends HivepaceError {
  override readonly name = "TableFullError";
  declare readonly code: "TABLE_FULL";
  /** How many ids it has room for. */
  readonly maxIds: number;

  constructor(maxIds: number) {
    super("TABLE_FULL", `no room for another id among ${maxIds}: share with a larger maxIds`);
    this.maxIds = maxIds;
  }
}

/** This place allows no memory between threads: no WebAssembly, or a browser page that is not cross-origin isolated. */
export class SharingUnavailableError extends HivepaceError {
  override readonly name = "SharingUnavailableError";
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
