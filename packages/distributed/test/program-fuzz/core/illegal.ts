import { isHivepaceError } from "@hivepace/core";
import { Violation } from "./violation.ts";

/** Makes an invalid call, and checks that the call fails with a typed error and leaves the fingerprint unchanged. */
export async function checkIllegal(call: () => unknown, text: string, fingerprint: () => string): Promise<void> {
  const before = fingerprint();
  try {
    await Promise.resolve(call());
  } catch (error) {
    if (!isHivepaceError(error)) throw new Violation("illegal calls", `${text} threw ${String(error)}, without a code`);
    const after = fingerprint();
    if (before !== after)
      throw new Violation("illegal calls", `${text} was rejected, and changed ${before} to ${after}`);
    return;
  }
  throw new Violation("illegal calls", `${text} was accepted`);
}
