import { describeChromium } from "@hivepace/servers/vitest";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withPage } from "./support/with-page.ts";

describeChromium((found) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch(found());
  });
  afterAll(() => browser?.close());

  const figure = (page: Page, label: string) =>
    page.locator(".figure", { has: page.locator("dt", { hasText: new RegExp(`^${label}$`) }) }).locator(".value");

  test("pressing a button of the demo shows its effect on the swarm in the page", async () => {
    const code = await withPage(async ({ url }) => {
      const page = await browser.newPage();
      page.setDefaultTimeout(300_000);
      const complaints: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(url);
      const press = async (name: string, says: RegExp): Promise<void> => {
        await page.getByRole("button", { name }).click();
        await page.getByText(says).first().waitFor();
      };
      await figure(page, "Agents").getByText("3", { exact: true }).waitFor();
      await press("Add 10 agents", /10 agents join/);
      await figure(page, "Agents").getByText("13", { exact: true }).waitFor();
      await press("Cut the limit", /50 %/);
      await page.locator(".entries li", { hasText: "Cut" }).first().waitFor();
      await press("Restore the limit", /whole limit again/);
      await press("Kill an agent", /agent-\d+ crashes/);
      await figure(page, "Agents").getByText("12", { exact: true }).waitFor();
      await press("Kill the bus", /no agent reaches the others any more/);
      await press("Bring the bus back", /reach each other again/);
      expect(complaints).toEqual([]);
      await page.close();
    }, 170);
    expect(code).toBe(130);
  });
});
