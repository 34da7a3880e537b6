import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "@hivepace/checks";
import { describeChromium } from "@hivepace/servers/vitest";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Served, serveFolder } from "./support/serve-folder.ts";

const PHONE = { viewport: { width: 390, height: 844 } };

describeChromium((found) => {
  let browser: Browser;
  let site: Served;
  let complaints: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "hivepace-site-"));
  beforeAll(async () => {
    // In a separate process: VitePress sets NODE_ENV, and loads TypeScript that the tests' loader does not handle.
    const program = join(root, "apps/site/src/main.ts");
    const tsx = join(root, "node_modules/.bin/tsx");
    execFileSync(tsx, ["--conditions", "@hivepace/source", program, folder], { cwd: root, env: environment() });
    site = await serveFolder(folder);
    browser = await chromium.launch(found());
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    const told = complaints;
    complaints = [];
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(told).toEqual([]);
  });

  async function visit(path: string, look: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, ...look })).newPage();
    // A busy machine is slow: only the time limit of the test ends a page that hangs.
    page.setDefaultTimeout(0);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== site.url) complaints.push(`asked for ${request.url()}`);
    });
    await page.goto(site.url + path);
    return page;
  }

  const cells = (page: Page, scheme: string) =>
    page.locator(`.playground tr[data-scheme="${scheme}"] td`).allTextContents();
  const finished = (page: Page, agents: number) =>
    page.getByRole("status").getByText(`Ten minutes of ${agents} agents`).waitFor();

  test("the simulator runs in the browser, and Hivepace keeps the limit there", async () => {
    const page = await visit("/playground");
    await finished(page, 20);
    const [use = "", largest = ""] = await cells(page, "hive");
    expect(Number.parseFloat(use)).toBeGreaterThan(70);
    expect(Number.parseFloat(largest)).toBeLessThanOrEqual(100);
    expect(await page.locator(".playground svg path.curve").count()).toBe(2);
    expect(
      await page.getByRole("img", { name: /^Chart of the last minute's usage: Hivepace used \d+ %/ }).count(),
    ).toBe(1);
  });

  test("the simulation runs in a worker, and a moved slider replaces it", async () => {
    const page = await visit("/playground");
    await finished(page, 20);
    expect(page.workers()).toHaveLength(1);
    const before = await cells(page, "hive");
    await page.getByRole("slider", { name: /^Agents/ }).fill("6");
    await page.getByRole("combobox", { name: "Compare with" }).selectOption("none");
    await finished(page, 6);
    expect(page.workers()).toHaveLength(1);
    expect(await cells(page, "hive")).not.toEqual(before);
    expect(await page.locator(".playground tbody tr").count()).toBe(1);
  });

  test("a chosen fault is simulated", async () => {
    const page = await visit("/playground");
    await page.getByRole("combobox", { name: "Fault in minute 4" }).selectOption("bus");
    await page.getByRole("slider", { name: /^Agents/ }).fill("7");
    await finished(page, 7);
    expect(Number.parseFloat((await cells(page, "hive"))[1] ?? "")).toBeLessThanOrEqual(100);
  });

  test.each(["light", "dark"] as const)("in %s, axe finds nothing serious", async (colorScheme) => {
    const page = await visit("/playground", { colorScheme });
    await finished(page, 20);
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run('.playground')")) as {
      violations: { id: string; impact: string }[];
    };
    expect(
      violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id),
    ).toEqual([]);
  });

  test.each(["/", "/playground", "/algorithm", "/recipes", "/failure-modes"])("%s fits on a phone", async (path) => {
    const page = await visit(path, PHONE);
    if (path === "/playground") await finished(page, 20);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });

  test("search finds a page by the words of a symptom", async () => {
    const page = await visit("/");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("searchbox").fill("retry storm");
    await page.locator(".VPLocalSearchBox .result", { hasText: "429" }).first().waitFor();
  });

  test("the site has the summary for language models", async () => {
    const answer = await fetch(`${site.url}/llms.txt`);
    expect(await answer.text()).toMatch(/^# Hivepace\n/);
  });
});

/** The environment without the mode of the test run: the build sets its own mode. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _, VITEST: __, ...rest } = process.env;
  return rest;
}
