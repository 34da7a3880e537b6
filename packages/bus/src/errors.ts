import { HivepaceError } from "@hivepace/core";
import { show } from "@hivepace/core/internal";

/** The bus was closed, before the call or while it was under way. */
export class BusClosedError extends HivepaceError {
  override readonly name = "BusClosedError";
  declare readonly code: "BUS_CLOSED";

  constructor(bus: string) {
    super("BUS_CLOSED", `the ${bus} bus is closed`);
  }
}

/** The broker is not there now, refused, or did not answer in time. What was published may or may not have arrived. */
export class BusUnavailableError extends HivepaceError {
  override readonly name = "BusUnavailableError";
  declare readonly code: "BUS_UNAVAILABLE";

  constructor(bus: string, detail: string, options?: { cause?: unknown }) {
    super("BUS_UNAVAILABLE", `the ${bus} bus is unavailable: ${detail}`, options);
  }
}

/** The payload is larger than the bus carries. Nothing was sent. */
export class BusPayloadTooLargeError extends HivepaceError {
  override readonly name = "BusPayloadTooLargeError";
  declare readonly code: "BUS_PAYLOAD_TOO_LARGE";
  readonly bytes: number;
  readonly maxBytes: number;

  constructor(bus: string, bytes: number, maxBytes: number) {
    super("BUS_PAYLOAD_TOO_LARGE", `the ${bus} bus carries at most ${maxBytes} bytes, got ${bytes}`);
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

/** Not a subject; the message says what one is. */
export class BusSubjectInvalidError extends HivepaceError {
  override readonly name = "BusSubjectInvalidError";
  declare readonly code: "BUS_SUBJECT_INVALID";
  readonly subject: unknown;

  constructor(subject: unknown, rule: string) {
    super("BUS_SUBJECT_INVALID", `a subject must be ${rule}, got ${show(subject)}`);
    this.subject = subject;
  }
}

declare module "@hivepace/core" {
  interface HivepaceErrorCodes {
    BUS_CLOSED: BusClosedError;
    BUS_UNAVAILABLE: BusUnavailableError;
    BUS_PAYLOAD_TOO_LARGE: BusPayloadTooLargeError;
    BUS_SUBJECT_INVALID: BusSubjectInvalidError;
  }
}
