import { howToGet, type Kind } from "./kinds.ts";

const LOG_LINES = 20;

/** This source does not have it; the next one may. The message is the reason, in a few words. */
export class NotHereError extends Error {
  override readonly name = "NotHereError";
}

/** No source has it. The message is one line and says how to get it. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  readonly code = "SERVER_UNAVAILABLE";

  constructor(
    readonly kind: Kind,
    readonly reasons: readonly string[],
  ) {
    super(`${kind} cannot be had here (${reasons.join("; ")}). To get it: ${howToGet[kind]}.`);
  }
}

/** It was there, was started, and never answered. The message ends with the last lines of its log. */
export class StartFailedError extends Error {
  override readonly name = "StartFailedError";
  readonly code = "SERVER_START_FAILED";
  // Private, so that whoever prints the error does not print the whole log.
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
