import { onTestFinished } from "vitest";

/** Closes it after the test, however that ends. */
export async function opened<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> {
  const thing = await opening;
  onTestFinished(() => thing.close());
  return thing;
}

/** The codes and texts of our warnings during the test. */
export function warnings(): string[] {
  const seen: string[] = [];
  const see = (warning: Error & { code?: string }) => void seen.push(`${warning.code}: ${warning.message}`);
  process.on("warning", see);
  onTestFinished(() => void process.off("warning", see));
  return seen;
}
