import type { Hello, Update } from "../wire.ts";

interface Listener {
  hello(hello: Hello): void;
  update(update: Update): void;
  /** Reports whether the connection is alive. */
  live(isLive: boolean): void;
}

/** After this silence the connection counts as lost. The server sends twice a second, rarely less. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 1_000;

/** Receives the server's messages, and reconnects for as long as the page is open. */
export function connect(listener: Listener): void {
  let source: EventSource | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const lose = (): void => {
    source?.close();
    source = undefined;
    clearTimeout(patience);
    listener.live(false);
    // An EventSource gives up permanently after some errors, so the page reconnects by itself.
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
