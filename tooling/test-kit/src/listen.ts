import { text } from "./text.ts";

/** The part of a message bus that `listen` uses. */
interface Subscribable {
  subscribe(subject: string, handler: (payload: Uint8Array) => void): Promise<unknown>;
}

/** Subscribes and collects the received payloads as text. */
export async function listen(bus: Subscribable, subject: string): Promise<string[]> {
  const heard: string[] = [];
  await bus.subscribe(subject, (payload) => heard.push(text(payload)));
  return heard;
}
