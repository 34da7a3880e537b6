import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeChromium } from "@hivepace/servers/vitest";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { committable, root } from "./workspace.ts";

/** The contrast that WCAG requires for small text. */
const CONTRAST = 4.5;

/** Hand-drawn pictures with both colour schemes; generated charts have their own background. */
const pictures = committable(/^docs\/pictures\/.*\.svg$/).filter((picture) =>
  readFileSync(join(root, picture), "utf8").includes("prefers-color-scheme"),
);
const schemes = ["light", "dark"] as const;

describeChromium((browser) => {
  let opened: Browser;
  beforeAll(async () => {
    opened = await chromium.launch(browser());
  });
  afterAll(() => opened.close());

  test.each(pictures.flatMap((picture) => schemes.map((scheme) => [picture, scheme] as const)))(
    "%s in %s: all text is within its box, and can be read",
    async (picture, colorScheme) => {
      const page = await opened.newPage({ colorScheme });
      await page.setContent(readFileSync(join(root, picture), "utf8"));
      expect(await page.evaluate(`(${mistakes})(${CONTRAST})`)).toEqual([]);
      await page.close();
    },
  );
});

/** Runs in the page. A box is a filled rectangle; a text belongs to the last box that contains its centre. */
const mistakes = `(least) => {
  const boxes = [...document.querySelectorAll("rect")].filter((rect) => getComputedStyle(rect).fill !== "none");
  const colour = (node) => getComputedStyle(node).fill.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  return [...document.querySelectorAll("text")].flatMap((text) => {
    const { x, y, width, height } = text.getBBox();
    const [cx, cy] = [x + width / 2, y + height / 2];
    const box = boxes.findLast((rect) => {
      const b = rect.getBBox();
      return cx >= b.x && cx <= b.x + b.width && cy >= b.y && cy <= b.y + b.height;
    });
    if (!box) return [text.textContent + ": stands nowhere"];
    const b = box.getBBox();
    const isInside = x >= b.x && x + width <= b.x + b.width && y >= b.y && y + height <= b.y + b.height;
    const [one, other] = [light(colour(text)), light(colour(box))];
    const contrast = Math.max(one, other) / Math.min(one, other);
    return [
      ...(isInside ? [] : [text.textContent + ": is wider than its box"]),
      ...(contrast >= least ? [] : [text.textContent + ": contrast " + contrast.toFixed(2)]),
    ];
  });
}`;
