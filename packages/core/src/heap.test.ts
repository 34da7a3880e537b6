import fc from "fast-check";
import { expect, test } from "vitest";
import { Heap, type HeapEntry } from "./heap.ts";

test("items are shifted in order after any removals from the middle", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.boolean()), { maxLength: 60, size: "max" }),
      (items) => {
        const heap = new Heap<number>((a, b) => a < b);
        const entries: [HeapEntry<number>, boolean][] = items.map(([item, stays]) => [heap.push(item), stays]);
        for (const [entry, stays] of entries) if (!stays) heap.remove(entry);
        const left: number[] = [];
        for (let item = heap.shift(); item !== undefined; item = heap.shift()) left.push(item);
        const expected = items.filter(([, stays]) => stays).map(([item]) => item);
        expect(left).toEqual(expected.sort((a, b) => a - b));
      },
    ),
  );
});

test("removing an entry twice does not affect other entries", () => {
  const heap = new Heap<number>((a, b) => a < b);
  const first = heap.push(1);
  heap.push(2);
  heap.remove(first);
  heap.remove(first);
  expect(heap.size).toBe(1);
  expect(heap.first()).toBe(2);
});
