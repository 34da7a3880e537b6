/** Screenshots of the built site, desktop and phone, light and dark, into the folder of the first argument. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "@hivepace/checks";
import { findChromium } from "@hivepace/servers";
import { chromium } from "playwright-core";
import { serveFolder } from "./support/serve-folder.ts";

const [folder = ".cache/site-screenshots"] = process.argv.slice(2);
const PAGES = ["/", "/playground", "/algorithm", "/recipes", "/guarantees"];
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

mkdirSync(folder, { recursive: true });
const site = await serveFolder(join(root, "apps/site/dist"));
const browser = await chromium.launch(await findChromium());
for (const [size, viewport] of Object.entries(SIZES))
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({ viewport, colorScheme });
    for (const path of PAGES) {
      await page.goto(site.url + path);
      if (path === "/playground") await page.locator(".playground table").waitFor();
      const name = path === "/" ? "home" : path.slice(1);
      await page.screenshot({
        path: join(folder, `${name}-${size}-${colorScheme}.png`),
        fullPage: path === "/playground",
      });
    }
    await page.close();
  }
await browser.close();
await site.close();
console.log(`The screenshots are in ${folder}.`);
