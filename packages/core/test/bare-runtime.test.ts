import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("core loads and limits without Node's process and modules", async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
    bundle: true,
    format: "iife",
    globalName: "core",
    platform: "neutral",
    target: "es2022",
    write: false,
  });
  const bare = createContext({ performance, setTimeout, clearTimeout });
  runInContext(String(outputFiles[0]?.text), bare);
  const result = await runInContext(
    `(async () => {
      const limiter = new core.MemoryLimiter();
      limiter.onCapacityChange(() => { throw new Error("mine") });
      limiter.setCapacity("api", 1, 20);
      await limiter.acquire("api");
      await limiter.acquire("api");
      limiter.announceReduced("api", "received 429");
      return [typeof process, limiter.getCapacity("api").inFlight].join();
    })()`,
    bare,
  );
  expect(result).toBe("undefined,2");
});
