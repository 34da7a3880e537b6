import { howToGet, type Kind } from "./kinds.ts";

const LOG_LINES = 20;

/** A source cannot provide the server; the next source is tried. The message is the reason, in a few words. */
export class NotHereError extends Error {
  override readonly name = "NotHereError";
}

/** No source can provide the server. The message is one line and explains how to install the server. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  readonly code = "SERVER_UNAVAILABLE";

  constructor(
    readonly kind: Kind,
    readonly reasons: readonly string[],
  ) {
    super(`${kind} is not available (${reasons.join("; ")}). To get it: ${howToGet[kind]}.`);
  }
}

/** A server was started and never became ready. The message ends with the last lines of its log. */
export class StartFailedError extends Error {
  override readonly name = "StartFailedError";
  readonly code = "SERVER_START_FAILED";
  // Private, so that printing the error does not print the whole log.
  readonly #log: string;

  constructor(
    readonly kind: Kind,
    what: string,
    log: string,
  ) {
    const end = log.trimEnd().split("\n").slice(-LOG_LINES).join("\n");
    super(`${kind} ${what}${end === "" ? "" : `; the end of its log:\n${end}`}`);
    this.#log = log;
  }

  get log(): string {
    return this.#log;
  }
}
