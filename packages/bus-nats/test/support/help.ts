import { onTestFinished } from "vitest";

/** Closes the opened object after the test, whether the test passes or fails. */
export async function opened<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> {
  const thing = await opening;
  onTestFinished(() => thing.close());
  return thing;
}

/** Collects the codes and texts of Hivepace warnings during the test. */
export function warnings(): string[] {
  const seen: string[] = [];
  const see = (warning: Error & { code?: string }) => void seen.push(`${warning.code}: ${warning.message}`);
  process.on("warning", see);
  onTestFinished(() => void process.off("warning", see));
  return seen;
}
