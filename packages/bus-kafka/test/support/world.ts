import { isHivepaceError } from "@hivepace/core";
import { type Admin, Kafka, logLevel } from "kafkajs";

export { bytes, listen, text, until as eventually } from "@hivepace/test-kit";

export async function unavailable(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => "the promise resolved",
    (error: unknown) => error,
  );
  if (!isHivepaceError(outcome, "BUS_UNAVAILABLE")) throw new Error(`expected BUS_UNAVAILABLE, got ${String(outcome)}`);
  return outcome;
}

export const quietKafka = (url: string): Kafka => new Kafka({ brokers: [url], logLevel: logLevel.NOTHING });

export async function withAdmin<T>(url: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = quietKafka(url).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Returns the codes of warnings emitted while the work runs. */
export async function warnings(work: () => Promise<void>): Promise<string[]> {
  const codes: string[] = [];
  const listener = (warning: Error & { code?: string }): void => void codes.push(warning.code ?? "");
  process.on("warning", listener);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", listener);
  }
  return codes;
}
