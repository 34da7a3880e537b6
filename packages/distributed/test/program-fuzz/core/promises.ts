import { isHivepaceError } from "@hivepace/core";
import { Violation } from "./violation.ts";

/** Collects violations from promise callbacks and listeners, where a thrown error would be lost. */
export class Late {
  #first: Violation | undefined;

  add(violation: Violation): void {
    this.#first ??= violation;
  }

  /** Runs a callback, and keeps the violation if the callback throws. */
  guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.add(error instanceof Violation ? error : new Violation("typed errors", `threw ${(error as Error)?.stack}`));
    }
  }

  throw(): void {
    if (this.#first) throw this.#first;
  }
}

/** Throws unless a rejection is a typed error or the abort reason of the caller's own signal. */
export function checkRejection(error: unknown, reason: unknown, what: string): void {
  if (isHivepaceError(error) || (reason !== undefined && error === reason)) return;
  throw new Violation("typed errors", `${what} rejected with ${String(error)}`);
}
