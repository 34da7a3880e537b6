import { HivepaceError } from "@hivepace/core";
import { redactOption, show } from "@hivepace/core/internal";

/** The bus was closed, before the call or while it was under way. */
export class BusClosedError extends HivepaceError {
  override readonly name = "BusClosedError";
  static readonly code = "BUS_CLOSED";
  declare readonly code: "BUS_CLOSED";

  constructor(bus: string) {
    super("BUS_CLOSED", `the ${bus} bus is closed`);
  }
}

/**
 * The broker is unreachable, refused the request, or did not answer in time. A published message may or may not have
 * arrived.
 */
export class BusUnavailableError extends HivepaceError {
  override readonly name = "BusUnavailableError";
  static readonly code = "BUS_UNAVAILABLE";
  declare readonly code: "BUS_UNAVAILABLE";

  constructor(bus: string, detail: string, options?: { cause?: unknown }) {
    super("BUS_UNAVAILABLE", `the ${bus} bus is unavailable: ${detail}`, options);
  }
}

/** The payload is larger than the bus carries. Nothing was sent. */
export class BusPayloadTooLargeError extends HivepaceError {
  override readonly name = "BusPayloadTooLargeError";
  static readonly code = "BUS_PAYLOAD_TOO_LARGE";
  declare readonly code: "BUS_PAYLOAD_TOO_LARGE";
  readonly bytes: number;
  readonly maxBytes: number;

  constructor(bus: string, bytes: number, maxBytes: number) {
    super("BUS_PAYLOAD_TOO_LARGE", `the ${bus} bus carries at most ${maxBytes} bytes, got ${bytes}`);
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

/** The value is not a valid subject; the message states the rule. */
export class BusSubjectInvalidError extends HivepaceError {
  override readonly name = "BusSubjectInvalidError";
  static readonly code = "BUS_SUBJECT_INVALID";
  declare readonly code: "BUS_SUBJECT_INVALID";
  readonly subject: unknown;

  constructor(subject: unknown, rule: string) {
    super("BUS_SUBJECT_INVALID", `a subject must be ${rule}, got ${show(subject)}`);
    this.subject = redactOption("subject", subject);
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
