import { describe, expect, test } from "vitest";
import { SendQueue } from "./send-queue.ts";

interface Sent {
  readonly values: string[];
  readonly resolve: (value?: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

function queueWith(): { queue: SendQueue; sent: Sent[] } {
  const sent: Sent[] = [];
  const queue = new SendQueue(
    (values) => new Promise((resolve, reject) => sent.push({ values: values.map(String), resolve, reject })),
  );
  return { queue, sent };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a send queue", () => {
  test("sends at once when no batch is in flight, and batches the rest", async () => {
    const { queue, sent } = queueWith();
    const all = ["1", "2", "3"].map((value) => queue.push(Buffer.from(value)));
    expect(sent.map(({ values }) => values)).toEqual([["1"]]);
    sent[0]?.resolve();
    await all[0];
    await turn();
    expect(sent.map(({ values }) => values)).toEqual([["1"], ["2", "3"]]);
    sent[1]?.resolve();
    await Promise.all(all);
  });

  test("never exceeds the batch size, and sends a larger record alone", async () => {
    const { queue, sent } = queueWith();
    const sizes = [1, 40_000, 30_000, 100_000, 5, 6];
    const all = sizes.map((size) => queue.push(Buffer.alloc(size, "x")));
    for (let i = 0; i < 5; i++) {
      await turn();
      sent[i]?.resolve();
    }
    await Promise.all(all);
    expect(sent.map(({ values }) => values.map(({ length }) => length))).toEqual([
      [1],
      [40_000],
      [30_000],
      [100_000],
      [5, 6],
    ]);
  });

  test("a failed batch rejects its own records only, and the next batch is sent", async () => {
    const { queue, sent } = queueWith();
    const first = queue.push(Buffer.from("1"));
    const second = queue.push(Buffer.from("2"));
    sent[0]?.reject(new Error("no"));
    await expect(first).rejects.toThrow("no");
    await turn();
    sent[1]?.resolve();
    await second;
  });

  test("ending rejects all records, including later ones, and sends nothing more", async () => {
    const { queue, sent } = queueWith();
    const all = ["1", "2"].map((value) => queue.push(Buffer.from(value)));
    queue.end(new Error("over"));
    for (const one of [...all, queue.push(Buffer.from("3"))]) await expect(one).rejects.toThrow("over");
    sent[0]?.resolve();
    await turn();
    expect(sent.length).toBe(1);
  });
});
