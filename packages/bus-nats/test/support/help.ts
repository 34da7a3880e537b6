import type { MessageBus } from "@hivepace/bus";
import { until as ask } from "@hivepace/servers";
import { onTestFinished } from "vitest";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const bytes = (text: string): Uint8Array => encoder.encode(text);

/** Waits until it holds; fails when it does not for too long. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  if (!(await ask(condition, { deadlineMs: 30_000, everyMs: 5 }))) throw new Error(`waited in vain: ${what}`);
}

/** Closes it after the test, however that ends. */
export async function opened<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> {
  const thing = await opening;
  onTestFinished(() => thing.close());
  return thing;
}

/** Subscribes and keeps what comes, as text. */
export async function listen(bus: MessageBus, subject: string): Promise<string[]> {
  const heard: string[] = [];
  await bus.subscribe(subject, (payload) => heard.push(decoder.decode(payload)));
  return heard;
}

/** The codes and texts of our warnings during the test. */
export function warnings(): string[] {
  const seen: string[] = [];
  const see = (warning: Error & { code?: string }) => void seen.push(`${warning.code}: ${warning.message}`);
  process.on("warning", see);
  onTestFinished(() => void process.off("warning", see));
  return seen;
}
