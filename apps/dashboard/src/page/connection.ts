import type { Hello, Update } from "../wire.ts";

interface Listener {
  hello(hello: Hello): void;
  update(update: Update): void;
  /** Whether anything comes. */
  live(isLive: boolean): void;
}

/** Nothing for so long, and the connection counts as lost. The server speaks twice a second, and seldom less. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 1_000;

/** Hears the server, and connects again by itself for as long as the page is open. */
export function connect(listener: Listener): void {
  let source: EventSource | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const lose = (): void => {
    source?.close();
    source = undefined;
    clearTimeout(patience);
    listener.live(false);
    // A browser gives up for good after some errors; we do not.
    setTimeout(open, RETRY_MS);
  };
  const heard = <T>(event: MessageEvent<string>, take: (message: T) => void): void => {
    clearTimeout(patience);
    patience = setTimeout(lose, PATIENCE_MS);
    take(JSON.parse(event.data) as T);
    listener.live(true);
  };
  const open = (): void => {
    source = new EventSource("events");
    source.addEventListener("hello", (event) => heard<Hello>(event, listener.hello));
    source.addEventListener("update", (event) => heard<Update>(event, listener.update));
    source.addEventListener("error", lose, { once: true });
  };
  open();
}
