import { isHivepaceError } from "@hivepace/core";
import type { MessageBus } from "../message-bus.ts";

/** What a runner gives us: vitest's `test`, node's, jest's. */
export type TestFunction = (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown;

/** What the suite needs to know of a bus: how to open one, and how to kill its broker. */
export interface BusSuiteOptions {
  readonly test: TestFunction;
  /** Opens one more instance on the same broker. The suite closes it. */
  readonly open: () => Promise<MessageBus>;
  /**
   * Kills the broker, calls `whileAway`, and starts it again at the same place. Without it, what happens in an outage
   * is not tested.
   */
  readonly restart?: ((whileAway?: () => Promise<void>) => Promise<void>) | undefined;
}

/** What a law is tested in: buses that are closed afterwards, subjects that nobody else uses. */
export interface World {
  open(): Promise<MessageBus>;
  subject(): string;
}

export type Law = readonly [name: string, body: (world: World) => Promise<void>];

/** Long enough for a broker that is starting; whoever waits is done as soon as it happens. */
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
    () => "it resolved",
    (error: unknown) => (isHivepaceError(error, code) ? undefined : `it rejected with ${String(error)}`),
  );
  if (outcome !== undefined) throw new Error(`${what}: expected ${code}, but ${outcome}`);
}

/** Waits until the condition holds; fails when it does not for too long. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The promise, unless it takes longer than anyone should have to wait. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Subscribes and keeps what comes, as text. */
export async function listen(bus: MessageBus, subject: string): Promise<string[]> {
  const heard: string[] = [];
  await bus.subscribe(subject, (payload) => heard.push(text(payload)));
  return heard;
}

/** The codes of our warnings while the work goes on; they are kept from the log, for they were provoked. */
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
