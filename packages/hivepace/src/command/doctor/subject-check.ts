import { type MessageBus, namespacedBus } from "@hivepace/bus";
import { escapePart } from "@hivepace/core/internal";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "@hivepace/distributed";
import { pause } from "../abortable.ts";
import { showDuration } from "../text/duration.ts";
import type { Findings } from "./findings.ts";

export interface Heard {
  readonly presence: Uint8Array[];
  /** What was announced, and how far the clock of this machine was ahead of its timestamp. */
  readonly aheadMs: number[];
  readonly isDeaf: boolean;
  close(): Promise<void>;
}

interface Ears {
  readonly bus: MessageBus;
  readonly namespace: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Both subjects in this namespace: may we hear them, may we speak there, and does what is said come back? What is said is no
 * message of an agent: all agents ignore it, and count that they did. Goes on hearing until it is closed.
 */
export async function checkSubjects(findings: Findings, ears: Ears): Promise<Heard> {
  const { bus, namespace, timeoutMs, signal } = ears;
  const own = namespace === "" ? bus : namespacedBus(bus, namespace);
  const presence: Uint8Array[] = [];
  const aheadMs: number[] = [];
  let isDeaf = false;
  for (const subject of [PRESENCE_SUBJECT, CAPACITY_SUBJECT]) {
    const name = namespace === "" ? subject : `${escapePart(namespace, /\./)}.${subject}`;
    const token = `doctor ${crypto.randomUUID()}`;
    let echoed: (at: number) => void = () => {};
    const echo = new Promise<number>((resolve) => {
      echoed = resolve;
    });
    let isHeard = true;
    try {
      await own.subscribe(subject, (payload) => {
        const text = new TextDecoder().decode(payload);
        if (text.includes(token)) echoed(performance.now());
        else if (subject === PRESENCE_SUBJECT) presence.push(payload.slice());
        else aheadMs.push(...aheadOf(text));
      });
    } catch (error) {
      isHeard = false;
      isDeaf = true;
      findings.bad("hear", `${name}: ${messageOf(error)}`, `give this user the right to subscribe to ${name}`);
    }
    const sentAt = performance.now();
    try {
      await own.publish(subject, new TextEncoder().encode(JSON.stringify({ note: token })));
    } catch (error) {
      findings.bad("speak", `${name}: ${messageOf(error)}`, `give this user the right to publish to ${name}`);
      continue;
    }
    if (!isHeard) continue;
    const backAt = await Promise.race([echo, pause(timeoutMs, signal).then(() => undefined)]);
    if (signal.aborted) throw signal.reason;
    if (backAt !== undefined) findings.ok("echo", `${name}: there and back in ${showDuration(backAt - sentAt)}`);
    else
      findings.bad(
        "echo",
        `${name}: what was said did not come back in ${showDuration(timeoutMs)}`,
        "the broker took it and did not deliver it: is every node of it connected to the others?",
      );
  }
  return { presence, aheadMs, isDeaf, close: () => (own === bus ? Promise.resolve() : own.close()) };
}

function aheadOf(text: string): number[] {
  try {
    const { timestamp } = JSON.parse(text) as { timestamp?: unknown };
    const ahead = Date.now() - Date.parse(String(timestamp));
    return Number.isNaN(ahead) ? [] : [ahead];
  } catch {
    return [];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
