import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { watchedStream } from "./watched-stream.ts";

/** A watched stream over a source that makes chunks of this size, up to this many. */
function world(count: number, size = 10) {
  const clock = new ManualClock();
  const seen: number[] = [];
  const ends: boolean[] = [];
  let made = 0;
  let isCancelled = false;
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (made === count) controller.close();
        else controller.enqueue(new Uint8Array(size).fill(++made));
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const watcher = {
    chunk: ([first]: Uint8Array) => void seen.push(first ?? 0),
    end: (whole: boolean) => void ends.push(whole),
  };
  const stream = watchedStream(source, watcher, clock, ({ length }) => length);
  return { clock, seen, ends, stream, made: () => made, isCancelled: () => isCancelled };
}

const MIB = 1_048_576;

test("an answer that nobody reads is read ahead after ten seconds, and its watcher learns the end", async () => {
  const { clock, ends, made, seen } = world(3);
  await clock.run(9_999);
  expect(made()).toBe(0);
  await clock.run(1);
  expect([made(), seen, ends]).toEqual([3, [1, 2, 3], [true]]);
  expect(clock.pending).toBe(0);
});

test("a late reader gets all of an answer that was read ahead", async () => {
  const { clock, stream, ends } = world(3);
  await clock.run(60_000);
  expect((await new Response(stream as never).arrayBuffer()).byteLength).toBe(30);
  expect(ends).toEqual([true]);
});

test("a reader that stops in the middle does not keep the end from the watcher", async () => {
  const { clock, stream, ends, seen } = world(5);
  const reader = stream.getReader();
  await reader.read();
  await clock.run(10_000);
  expect([seen, ends]).toEqual([[1, 2, 3, 4, 5], [true]]);
  expect((await reader.read()).value?.[0]).toBe(2);
});

test("a slow reader is no absent one", async () => {
  const { clock, stream, made } = world(5);
  const reader = stream.getReader();
  for (let i = 0; i < 4; i++) {
    await reader.read();
    await clock.run(9_000);
  }
  expect(made()).toBe(4);
});

test("an unread answer that is too large to keep is given up and frees its connection", async () => {
  const { clock, stream, ends, isCancelled } = world(100, MIB / 4);
  await clock.run(10_000);
  expect([ends, isCancelled()]).toEqual([[false], true]);
  await expect(stream.getReader().read()).rejects.toThrow("left unread");
});

test("an answer too large to keep whose reading began stays readable; only its watcher ends", async () => {
  const { clock, stream, ends, isCancelled } = world(8, MIB / 4);
  const reader = stream.getReader();
  await reader.read();
  await clock.run(10_000);
  expect([ends, isCancelled()]).toEqual([[false], false]);
  let count = 1;
  while (!(await reader.read()).done) count++;
  expect(count).toBe(8);
});
