import { text } from "./text.ts";

/** What is used of a message bus. */
interface Subscribable {
  subscribe(subject: string, handler: (payload: Uint8Array) => void): Promise<unknown>;
}

/** Subscribes and keeps what comes, as text. */
export async function listen(bus: Subscribable, subject: string): Promise<string[]> {
  const heard: string[] = [];
  await bus.subscribe(subject, (payload) => heard.push(text(payload)));
  return heard;
}
