import { once } from "node:events";
import { answerOf, startWorker } from "@hivepace/test-kit";
import { expect, test, vi } from "vitest";
import { memoryBus } from "../src/memory-bus.ts";
import { threadBroker } from "../src/thread-broker.ts";

test("worker threads of one process exchange messages, and exit by themselves once their bus is closed", async () => {
  const file = new URL("echo.worker.ts", import.meta.url);
  const workers = await Promise.all(
    [1, 2].map(async () => {
      const worker = await startWorker(file);
      return { ready: answerOf(worker), ended: once(worker, "exit") };
    }),
  );
  const bus = await memoryBus(threadBroker("threads-test"));
  const answers: string[] = [];
  await bus.subscribe("answer", (payload) => answers.push(new TextDecoder().decode(payload)));
  await Promise.all(workers.map(({ ready }) => ready));

  await bus.publish("ask", new TextEncoder().encode("hello"));
  await vi.waitFor(() => expect(answers).toEqual(["heard hello", "heard hello"]), { timeout: 300_000 });

  await bus.publish("ask", new TextEncoder().encode("end"));
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([[0], [0]]);
  await bus.close();
});
