import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { describeChromium } from "../src/vitest.ts";

const page = `<!doctype html><meta charset="utf-8"><title>Hive</title>
<body style="font: 32px sans-serif"><h1>Many agents, one pace</h1><p id="sum"></p>
<script>document.getElementById("sum").textContent = "6 × 7 = " + 6 * 7;</script>`;

describeChromium((browser) => {
  test("the browser opens a local page, runs its script and renders text", async () => {
    const site = createServer((_request, response) => response.setHeader("content-type", "text/html").end(page));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const opened = await chromium.launch(browser());
    try {
      const tab = await opened.newPage({ viewport: { width: 640, height: 240 } });
      await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      expect(await tab.title()).toBe("Hive");
      expect(await tab.textContent("#sum")).toBe("6 × 7 = 42");
      const withText = await tab.screenshot();
      await tab.setContent("");
      const empty = await tab.screenshot();
      // Without fonts both screenshots would be the same white page.
      expect(withText.byteLength).toBeGreaterThan(2 * empty.byteLength);
    } finally {
      await opened.close();
      await new Promise((resolve) => site.close(resolve));
    }
  });
});
