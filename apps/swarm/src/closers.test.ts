import { expect, test } from "vitest";
import { Closers } from "./closers.ts";

test("resources close in reverse order, and one that fails to close does not keep the others open", async () => {
  const closed: string[] = [];
  const closers = new Closers();
  closers.add({ close: async () => void closed.push("first") });
  closers.add({ close: () => Promise.reject(new Error("no")) });
  closers.add({ close: async () => void closed.push("last") });
  await closers.close(false);
  await closers.close(false);
  expect(closed).toEqual(["last", "first"]);
});

test("a hurried close does not wait for a resource that never closes", async () => {
  const closed: (number | undefined)[] = [];
  const closers = new Closers();
  closers.add({ close: () => new Promise(() => {}) });
  closers.add({ close: async (withinMs) => void closed.push(withinMs) });
  await closers.close(true);
  expect(closed).toEqual([250]);
});

test("a resource that is opening during an interrupt is closed once it has opened", async () => {
  const stop = new AbortController();
  const closers = new Closers();
  let isClosed = false;
  let open = (_: { close(): Promise<void> }) => {};
  const opening = new Promise<{ close(): Promise<void> }>((resolve) => {
    open = resolve;
  });
  const opened = closers.opened(opening, stop.signal);
  stop.abort(new Error("stop"));
  await expect(opened).rejects.toThrow("stop");
  const closing = closers.close(true);
  open({
    close: async () => {
      isClosed = true;
    },
  });
  await closing;
  expect(isClosed).toBe(true);
});
