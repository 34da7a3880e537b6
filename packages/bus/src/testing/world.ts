import { isHivepaceError } from "@hivepace/core";
import type { MessageBus } from "../message-bus.ts";

/** The test function of a runner: of vitest, node, or jest. */
export type TestFunction = (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown;

/** The bus under test: how to open an instance, and how to restart its broker. */
export interface BusSuiteOptions {
  readonly test: TestFunction;
  /** Opens one more instance on the same broker. The suite closes it. */
  readonly open: () => Promise<MessageBus>;
  /**
   * Kills the broker, calls `whileAway`, and restarts the broker at the same address. Without `restart`, the laws about
   * outages are not checked.
   */
  readonly restart?: ((whileAway?: () => Promise<void>) => Promise<void>) | undefined;
}

/** The environment of one law: buses that are closed afterwards, and subjects that no other law uses. */
export interface World {
  open(): Promise<MessageBus>;
  subject(): string;
}

export type Law = readonly [name: string, body: (world: World) => Promise<void>];

/**
 * The longest wait for one condition, in milliseconds: long enough for a broker to start. Tests that pass never wait
 * that long.
 */
export const PATIENCE_MS = 120_000;

let worlds = 0;
const run = Math.random().toString(36).slice(2, 8);

export async function inWorld(open: () => Promise<MessageBus>, body: (world: World) => Promise<void>): Promise<void> {
  const opened: MessageBus[] = [];
  const world = `suite-${run}-${worlds++}`;
  let subjects = 0;
  try {
    await body({
      async open() {
        const bus = await open();
        opened.push(bus);
        return bus;
      },
      subject: () => `${world}.${subjects++}`,
    });
  } finally {
    await Promise.all(opened.map((bus) => bus.close()));
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const bytes = (text: string): Uint8Array => encoder.encode(text);
export const text = (payload: Uint8Array): string => decoder.decode(payload);

export function equal(actual: unknown, expected: unknown, what: string): void {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Error(`${what}: expected ${shorten(e)}, got ${shorten(a)}`);
}

const shorten = (json = "undefined"): string => (json.length > 400 ? `${json.slice(0, 400)}…` : json);

export async function rejects(promise: Promise<unknown>, code: string, what: string): Promise<void> {
  const outcome = await promise.then(
    () => "the promise resolved",
    (error: unknown) => (isHivepaceError(error, code) ? undefined : `the promise rejected with ${String(error)}`),
  );
  if (outcome !== undefined) throw new Error(`${what}: expected ${code}, but ${outcome}`);
}

/** Waits until the condition holds; throws after `PATIENCE_MS`. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`timed out after ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Settles like the promise; rejects after `PATIENCE_MS`. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${PATIENCE_MS} ms: ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Subscribes, and returns a list to which every message is appended as text. */
export async function listen(bus: MessageBus, subject: string): Promise<string[]> {
  const heard: string[] = [];
  await bus.subscribe(subject, (payload) => heard.push(text(payload)));
  return heard;
}

/**
 * Returns the codes of Hivepace warnings emitted during `work`. The warnings are provoked, so they are kept out of the
 * log.
 */
export async function warningsDuring(work: () => Promise<void>): Promise<string[]> {
  const { process } = globalThis;
  const { emitWarning } = process;
  const codes: string[] = [];
  process.emitWarning = ((message: string, options: { code: string }) => {
    if (options?.code?.startsWith("HIVEPACE_")) codes.push(options.code);
    else emitWarning.call(process, message, options);
  }) as typeof emitWarning;
  try {
    await work();
  } finally {
    process.emitWarning = emitWarning;
  }
  return codes;
}
