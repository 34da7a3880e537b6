import { fileURLToPath } from "node:url";
import { describeChromium } from "@hivepace/servers/vitest";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";

describeChromium((browser) => {
  test("core loads in a browser, and its limiter grants, waits and times out there", async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
      bundle: true,
      format: "iife",
      globalName: "core",
      target: "es2022",
      write: false,
    });
    const opened = await chromium.launch(browser());
    try {
      const page = await opened.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => complaints.push(message.text()));
      await page.addScriptTag({ content: String(outputFiles[0]?.text) });
      const outcome = await page.evaluate(`(async () => {
        const limiter = new core.MemoryLimiter();
        limiter.setCapacity("api", 1, 1_000);
        const granted = [limiter.tryAcquire("api"), limiter.tryAcquire("api")];
        await limiter.acquire("api");
        const code = await limiter.acquire("api", { timeoutMs: 5 }).catch((error) => error.code);
        await limiter.close();
        return { granted, code };
      })()`);
      expect(outcome).toEqual({ granted: [true, false], code: "CAPACITY_EXHAUSTED" });
      expect(complaints).toEqual([]);
    } finally {
      await opened.close();
    }
  });
});
