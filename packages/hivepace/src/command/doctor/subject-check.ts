import { type MessageBus, namespacedBus } from "@hivepace/bus";
import { escapePart, messageOf } from "@hivepace/core/internal";
import { CAPACITY_SUBJECT, PRESENCE_SUBJECT } from "@hivepace/distributed";
import { pause } from "../abortable.ts";
import { showDuration } from "../text/duration.ts";
import type { Findings } from "./findings.ts";

/** The messages received on both subjects until `close`. */
export interface Heard {
  readonly presence: Uint8Array[];
  /** Milliseconds by which this machine's clock was ahead of each announcement's timestamp. */
  readonly aheadMs: number[];
  /** Whether a subscription was refused. */
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
 * Checks both subjects of the namespace: the right to subscribe, the right to publish, and the echo of a published
 * probe. Agents ignore the probe and count it as ignored. Keeps receiving until `close` is called.
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
    if (backAt !== undefined) findings.ok("echo", `${name}: round trip in ${showDuration(backAt - sentAt)}`);
    else
      findings.bad(
        "echo",
        `${name}: the broker did not echo the probe within ${showDuration(timeoutMs)}`,
        "the broker accepted the message but did not deliver it: check that its nodes are connected to each other",
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
