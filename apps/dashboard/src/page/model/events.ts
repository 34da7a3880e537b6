import type { LoggedEvent } from "../../wire.ts";
import { amount, duration, percent } from "./format.ts";

/** Text, or foreign data such as a name or a reason, which is marked up separately. */
export type Piece = string | { readonly data: string };

export interface Entry {
  readonly seq: number;
  readonly at: number;
  readonly tone: "cut" | "rise" | "pause" | "member" | "bus" | "control" | "failed";
  /** One word, because colour alone must not carry the meaning. */
  readonly label: string;
  readonly pieces: readonly Piece[];
}

/** Membership events of one kind within this time form one entry. */
const TOGETHER_MS = 2_000;
const NAMED = 3;

/** Converts events to entries, newest first; agents that join or leave together share an entry. */
export function entriesOf(events: readonly LoggedEvent[]): readonly Entry[] {
  const entries: Entry[] = [];
  for (let i = 0; i < events.length; i++) {
    const first = events[i] as LoggedEvent;
    const { event } = first;
    if (!isOfMember(event)) {
      entries.push(entryOf(first, event));
      continue;
    }
    const names = [event.agentId];
    let last = first;
    for (let other = events[i + 1]; other !== undefined; other = events[i + 1]) {
      if (!isOfMember(other.event) || other.event.type !== event.type || other.at - last.at > TOGETHER_MS) break;
      names.push(other.event.agentId);
      last = other;
      i++;
    }
    entries.push({
      seq: last.seq,
      at: last.at,
      tone: "member",
      label: LABELS[event.type],
      pieces: together(event.type, names),
    });
  }
  return entries.reverse();
}

type Event = LoggedEvent["event"];
type MemberEvent = Extract<Event, { type: "joined" | "silent" | "back" | "left" }>;

const LABELS = { joined: "Joined", silent: "Silent", back: "Back", left: "Left" } as const;
const DONE = {
  joined: ["has joined", "have joined"],
  silent: ["is silent", "are silent"],
  back: ["is heard again", "are heard again"],
  left: ["has left", "have left"],
} as const;

const isOfMember = (event: Event): event is MemberEvent => Object.hasOwn(LABELS, event.type);

function together(type: MemberEvent["type"], names: readonly string[]): Piece[] {
  const shown = names.length <= NAMED + 1 ? names : names.slice(0, NAMED);
  const pieces = shown.flatMap((data, i): Piece[] => {
    const isLast = i === shown.length - 1 && shown.length === names.length;
    return i === 0 ? [{ data }] : [isLast ? " and " : ", ", { data }];
  });
  if (shown.length < names.length) pieces.push(` and ${amount(names.length - shown.length)} others`);
  return [...pieces, ` ${DONE[type][names.length === 1 ? 0 : 1]}`];
}

function entryOf({ seq, at }: LoggedEvent, event: Exclude<Event, MemberEvent>): Entry {
  const entry = (tone: Entry["tone"], label: string, ...pieces: Piece[]): Entry => ({ seq, at, tone, label, pieces });
  switch (event.type) {
    case "cut": {
      const left = ` to ${percent(event.level)}${capacity(event.newCapacity)}: `;
      return entry("cut", "Cut", who(event.agentId), " cut ", who(event.resource), left, who(event.reason));
    }
    case "paused": {
      const long = ` for ${duration(event.pausedForMs)}: `;
      return entry("pause", "Pause", who(event.agentId), " paused ", who(event.resource), long, who(event.reason));
    }
    case "availability": {
      const { resource, model, state, agentId, reason } = event;
      const subject = who(model === undefined ? resource : `${resource} (${model})`);
      if (state === "available") return entry("rise", "Open", subject, " is available again: ", who(reason));
      return entry("pause", "Closed", subject, ` is ${state} (`, who(agentId), "): ", who(reason));
    }
    case "raised": {
      const to = event.level >= 1 ? " is whole again" : ` rose to ${percent(event.level)}`;
      return entry("rise", "Rise", who(event.resource), `${to}${capacity(event.newCapacity)}`);
    }
    case "announced": {
      const { agentId, resource, newCapacity, reason } = event.update;
      const to = `${capacity(newCapacity, " at ")}: `;
      return entry("cut", "Announced", who(agentId), " announced ", who(resource), to, who(reason));
    }
    case "bus":
      return entry("bus", "Bus", `The bus is ${event.state}`);
    case "control":
      return entry(event.hasFailed ? "failed" : "control", event.hasFailed ? "Failed" : "Done", ...control(event));
  }
}

/** Empty without a limit, which is null in JSON or an unreachably large amount. */
const capacity = (amountNow: number | null, before = ", "): string =>
  amountNow === null || amountNow >= UNREACHABLE ? "" : `${before}${amount(amountNow)} in a window`;

/** Agents send "no limit" as this amount or more. */
const UNREACHABLE = 1e12;

const who = (data: string): Piece => ({ data });
const control = ({ label, text }: { label: string; text: string }): Piece[] => [who(label), ": ", who(text)];

/** The entry as one sentence, for screen readers. */
export const spoken = ({ pieces }: Pick<Entry, "pieces">): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : piece.data)).join("");
