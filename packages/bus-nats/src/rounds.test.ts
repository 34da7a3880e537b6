import { expect, test } from "vitest";
import { Rounds } from "./rounds.ts";

function server() {
  const flushes: { resolve(): void; reject(error: Error): void }[] = [];
  const rounds = new Rounds(() => new Promise<void>((resolve, reject) => flushes.push({ resolve, reject })));
  return { flushes, rounds };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("messages of one tick share one flush, and later messages start the next flush without waiting", async () => {
  const { flushes, rounds } = server();
  const first = rounds.join();
  expect(rounds.join()).toBe(first);
  await tick();
  const second = rounds.join();
  await tick();
  expect(flushes).toHaveLength(2);
  flushes[1]?.resolve();
  await second.done;
  flushes[0]?.resolve();
  await first.done;
});

test("a refusal in the same read as the answer counts", async () => {
  const { flushes, rounds } = server();
  const round = rounds.join();
  await tick();
  flushes[0]?.resolve();
  void Promise.resolve().then(() => rounds.refuse("secret"));
  await round.done;
  expect([...round.refused]).toEqual(["secret"]);
  const next = rounds.join();
  await tick();
  flushes[1]?.resolve();
  await next.done;
  expect(next.refused.size).toBe(0);
});

test("a broken connection rejects the round, even one that nothing awaits", async () => {
  const { flushes, rounds } = server();
  const round = rounds.join();
  await tick();
  flushes[0]?.reject(new Error("disconnected"));
  await tick();
  await expect(round.done).rejects.toThrow("disconnected");
});
