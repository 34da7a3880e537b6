import { describeChromium } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Dashboard, type DashboardOptions, startDashboard } from "../src/index.ts";
import { ENDPOINT, type LiveSwarm, liveSwarm } from "./support/live-swarm.ts";
import { agent, emptySnapshot, PretendObserver, resource, use } from "./support/pretend-observer.ts";
import { seriousFindings, type WatchedPage, watchedPage } from "./support/watched-page.ts";

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';
const ARABIC = "عامل-النحل";
const LONG = `worker-${"long-".repeat(20)}1`;

describeChromium((found) => {
  let browser: Browser;
  let closing: (() => Promise<unknown>)[] = [];
  let watched: WatchedPage[] = [];
  beforeAll(async () => {
    browser = await chromium.launch(found());
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await Promise.all(watched.map(({ page }) => page.context().close()));
    for (const close of closing.reverse()) await close();
    const told = watched.map(({ complaints, foreign }) => ({ complaints, foreign }));
    [watched, closing] = [[], []];
    for (const one of told) expect(one).toEqual({ complaints: [], foreign: [] });
  });

  async function serve(options: DashboardOptions): Promise<Dashboard> {
    const dashboard = await startDashboard(options);
    closing.push(() => dashboard.close());
    return dashboard;
  }
  async function visit(url: string, look = {}): Promise<Page> {
    const one = await watchedPage(browser, url, look);
    watched.push(one);
    await one.page.waitForSelector(".figure");
    return one.page;
  }
  async function swarm(...names: string[]): Promise<LiveSwarm> {
    const started = await liveSwarm({ rpm: 300, tpm: 60_000, windowMs: 5_000 });
    closing.push(() => started.close());
    for (const name of names) await started.add(name, 20);
    return started;
  }
  const figure = (page: Page, label: string) =>
    page.locator(".figure", { has: page.locator("dt", { hasText: new RegExp(`^${label}$`) }) });
  const shows = (page: Page, text: string) => page.getByText(text).first().waitFor();

  describe("on a real swarm", () => {
    test("it shows who is there and what they use, live", async () => {
      const { observer } = await swarm("agent-1", "agent-2", "agent-3");
      const page = await visit((await serve({ observer, title: "My swarm" })).url);
      expect(await page.title()).toBe("My swarm");
      await figure(page, "Agents").locator(".value", { hasText: /^3$/ }).waitFor();
      await until(async () => (await page.locator(".hive li").count()) === 3, "three cells");
      await figure(page, "Admitted")
        .getByText(/^of 300 requests in 5 s$/)
        .waitFor();
      const admitted = () => figure(page, "Admitted").locator(".value").textContent();
      await until(async () => Number(await admitted()) > 0, "something admitted");
      const before = await admitted();
      await until(async () => (await admitted()) !== before, "another figure");
      await page.getByRole("button", { name: "Tokens" }).click();
      await figure(page, "Admitted")
        .getByText(/^of 60K tokens in 5 s$/)
        .waitFor();
      await shows(page, "From what agents say on the bus");
      expect(await page.locator(".card-controls").isVisible()).toBe(false);
    });

    test("a cut appears with who announced it and why, and so does the recovery", async () => {
      const { observer, hives } = await swarm("agent-1", MARKUP);
      const page = await visit((await serve({ observer })).url);
      await page.locator(".hive li").nth(1).waitFor();
      hives.get(MARKUP)?.announceReduced(ENDPOINT, "429 <i>slow down</i>");
      await figure(page, "Level").locator(".value", { hasText: "50 %" }).waitFor();
      await page.locator(".cause", { hasText: "cut by" }).waitFor();
      expect(await page.locator(".cause").textContent()).toContain(`${MARKUP} `);
      const entry = page.locator(".entries li", { hasText: "Cut" });
      await entry.waitFor();
      expect(await entry.textContent()).toContain(
        `${MARKUP} cut ${ENDPOINT} to 50 %, 150 in a window: 429 <i>slow down</i>`,
      );
      await page.locator(".entries li", { hasText: "Rise" }).first().waitFor();
      await page.locator(".hive li[data-cut]").waitFor();
    });

    test("names are data and never markup, whichever way they are read", async () => {
      const names = [MARKUP, ARABIC, LONG];
      const { observer } = await swarm(...names);
      const page = await visit((await serve({ observer })).url);
      await page.locator(".hive li").nth(2).waitFor();
      await page.locator(".agents tbody tr").nth(2).waitFor();
      const shown = await page.locator(".hive .cell-name").allTextContents();
      expect([...shown].sort()).toEqual([...names].sort());
      expect((await page.locator(".agents .agent-name").allTextContents()).sort()).toEqual([...names].sort());
      expect(await page.locator("main img, main b b, main script").count()).toBe(0);
      expect(await page.title()).toBe("Hivepace");
    });

    test("the bus that goes away is told, and that it is back", async () => {
      const { observer, broker } = await swarm("agent-1");
      const page = await visit((await serve({ observer })).url);
      await shows(page, "Bus ready");
      broker.stop();
      await shows(page, "The bus is interrupted: the figures are those that were heard last.");
      await page.locator(".entries li", { hasText: "The bus is interrupted" }).waitFor();
      broker.start();
      await page.locator(".entries li", { hasText: "The bus is ready" }).waitFor();
      await page.locator(".pill", { hasText: "Bus ready" }).waitFor();
    });

    test("buttons do what they say, and say what they did", async () => {
      const live = await swarm("agent-1");
      const add = async () => {
        await live.add("agent-2", 50);
        return "agent-2 was added.";
      };
      const controls = [
        { id: "add", label: "Add an agent", about: "One more.", run: add },
        { id: "fail", label: "Fail", about: "", run: () => Promise.reject(new Error("<b>no</b>")) },
      ];
      const page = await visit((await serve({ observer: live.observer, controls })).url);
      await page.getByRole("button", { name: "Add an agent" }).click();
      await page.locator(".outcome", { hasText: "agent-2 was added." }).waitFor();
      await page.locator(".hive li").nth(1).waitFor();
      await page.locator(".entries li", { hasText: "Add an agent: agent-2 was added." }).waitFor();
      await page.getByRole("button", { name: "Fail" }).click();
      await page.locator(".outcome", { hasText: "That failed: <b>no</b>" }).waitFor();
      watched[0]?.complaints.splice(0); // The browser itself tells of the answer 500.
    });

    test("it can be used by keyboard alone", async () => {
      const { observer } = await swarm("agent-1", "agent-2", "agent-3");
      let pressed = 0;
      const run = async () => `Pressed ${++pressed} times.`;
      const controls = [{ id: "press", label: "Press", about: "", run }];
      const page = await visit((await serve({ observer, controls })).url);
      await page.locator(".hive li").nth(2).waitFor();
      const focused = () => page.evaluate("document.activeElement.textContent") as Promise<string>;
      const tabTo = async (text: RegExp) => {
        for (let i = 0; i < 40; i++) {
          await page.keyboard.press("Tab");
          if (text.test(await focused())) return;
        }
        throw new Error(`no stop at ${text}`);
      };
      await tabTo(/Skip to the figures/);
      await tabTo(/Press/);
      await page.keyboard.press("Enter");
      await page.locator(".outcome", { hasText: "Pressed 1 times." }).waitFor();
      expect(await focused()).toContain("Press");
      await tabTo(/tokens/);
      await page.keyboard.press("Space");
      await page.locator('.segments [aria-pressed="true"]', { hasText: "tokens" }).waitFor();
      await tabTo(/agent-1/);
      await page.keyboard.press("ArrowRight");
      expect(await focused()).toContain("agent-2");
      await page.keyboard.press("End");
      expect(await focused()).toContain("agent-3");
      await page.locator(".readout", { hasText: "agent-3: uses" }).waitFor();
      await page.keyboard.press("Enter");
      await page.locator('.cell[aria-pressed="true"]', { hasText: "agent-3" }).waitFor();
      await page.locator(".agents tr[data-chosen]", { hasText: "agent-3" }).waitFor();
      // The hive is one stop: the next one is behind it.
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("As a table");
      await page.keyboard.press("Enter");
      await page.locator(".card-admitted tbody tr").first().waitFor();
      await tabTo(/^Used$/);
      await page.keyboard.press("Enter");
      await page.locator('th[aria-sort="descending"]', { hasText: "Used" }).waitFor();
    });

    test("what is shown of a dashboard that ends is called old, and all goes on when it is back", async () => {
      const { observer } = await swarm("agent-1");
      const first = await startDashboard({ observer });
      const page = await visit(first.url);
      await shows(page, "Live");
      await first.close();
      await page.locator(".alert", { hasText: "No connection to the dashboard: trying again." }).waitFor();
      await serve({ observer, port: Number(new URL(first.url).port), title: "Back again" });
      await page.locator("h1", { hasText: "Back again" }).waitFor();
      await page.locator(".pill", { hasText: "Live" }).waitFor();
      await until(async () => !(await page.locator(".alert").first().isVisible()), "no more alert");
      watched[0]?.complaints.splice(0); // The browser itself tells of connections that failed.
    });

    test.each([
      ["light", 1280],
      ["dark", 1280],
      ["light", 390],
      ["dark", 390],
    ] as const)("axe finds nothing serious, and nothing is cut off: %s, %d wide", async (colorScheme, width) => {
      const live = await swarm("agent-1", "agent-2", MARKUP, LONG);
      const controls = [{ id: "press", label: "Press", about: "Does nothing.", run: async () => "Done." }];
      const provider = () => ({ windowMs: 5_000, accepted: 9, rejected429: 1, usedRequests: 3, usedTokens: 4 });
      const { url } = await serve({ observer: live.observer, controls, provider });
      const page = await visit(url, { colorScheme, viewport: { width, height: 844 } });
      await page.locator(".hive li").nth(3).waitFor();
      live.hives.get("agent-1")?.announceReduced(ENDPOINT, "429");
      await page.locator(".entries li", { hasText: "Cut" }).waitFor();
      await page.getByRole("button", { name: "Press" }).click();
      await page.locator(".outcome", { hasText: "Done." }).waitFor();
      await page.locator(".card-admitted details summary").click();
      live.broker.stop();
      await page.locator(".alert", { hasText: "The bus is interrupted" }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    });
  });

  describe("whatever the swarm", () => {
    test("before anyone is heard it says so, and what to look for", async () => {
      const { url } = await serve({ observer: new PretendObserver(emptySnapshot) });
      const page = await visit(url);
      await shows(page, "Nobody heard yet");
      await shows(page, "no agent of namespace “prod” has spoken on it");
      expect(await seriousFindings(page)).toEqual([]);
    });

    test("a thousand agents are a thousand cells, and pages of a table", async () => {
      const ids = Array.from({ length: 1_000 }, (_, i) => `agent-${i + 1}`);
      const resources = [resource({ agents: ids.map((id) => use(id)) })];
      const observer = new PretendObserver({
        ...emptySnapshot,
        members: 1_000,
        agents: ids.map((id) => agent(id)),
        resources,
      });
      const page = await visit((await serve({ observer })).url);
      await until(async () => (await page.locator(".hive li").count()) === 1_000, "all cells");
      expect(await page.locator(".agents tbody tr").count()).toBe(20);
      await shows(page, "Page 1 of 50");
      await page.getByRole("button", { name: "Next" }).click();
      await shows(page, "Page 2 of 50");
      await page.getByRole("searchbox", { name: "Find" }).fill("agent-99");
      await shows(page, "11 of 1,000 agents");
      await page.locator(".hive button").first().focus();
      await page.keyboard.press("ArrowDown");
      const [first, below] = (await page.evaluate(
        "[document.querySelector('.hive button'), document.activeElement].map((one) => one.getBoundingClientRect().top)",
      )) as [number, number];
      expect(below).toBeGreaterThan(first);
    });

    test("a page that is opened late has its charts at once, also as tables", async () => {
      const observer = new PretendObserver({ ...emptySnapshot, agents: [agent("a")], resources: [resource()] });
      const { url } = await serve({ observer });
      const early = await visit(url);
      await early.locator(".card-level details summary").click();
      const rows = (page: Page) => page.locator(".card-level tbody tr").count();
      await until(async () => (await rows(early)) >= 3, "three points");
      const late = await visit(url);
      await late.locator(".card-level details summary").click();
      await until(async () => (await rows(late)) >= 3, "three points in the page that was opened late");
      expect(await late.locator(".card-level .visually-hidden").textContent()).toMatch(
        /level: 100 % now, all the time/,
      );
    });

    test("the store's view is shown as such, endpoint by endpoint, and one chooses among them", async () => {
      const observer = new PretendObserver({
        ...emptySnapshot,
        agents: [agent("a")],
        resources: [resource(), resource({ resource: "<us>", level: 0.25 })],
      });
      const usage = { endpoint: "<eu>", model: "m", rpm: 12, tpm: 34, utilization: 0.42, agents: 5, ageMs: 900 };
      const page = await visit((await serve({ observer, globalUsage: () => [usage] })).url);
      await shows(page, "From the shared store");
      expect(await page.locator(".endpoints li").textContent()).toContain("<eu>/m42 %");
      await page.getByRole("combobox", { name: "Endpoint" }).selectOption("<us>");
      await figure(page, "Level").locator(".value", { hasText: "25 %" }).waitFor();
    });

    test("the theme follows the system until it is chosen, and the choice stays", async () => {
      const observer = new PretendObserver({ ...emptySnapshot, agents: [agent("a")], resources: [resource()] });
      const { url } = await serve({ observer });
      const page = await visit(url, { colorScheme: "dark" });
      const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
      const dark = await background();
      await page.getByRole("button", { name: "Theme: auto" }).click();
      await page.getByRole("button", { name: "Theme: light" }).waitFor();
      const light = await background();
      expect(light).not.toBe(dark);
      await page.reload();
      await page.getByRole("button", { name: "Theme: light" }).click();
      await page.getByRole("button", { name: "Theme: dark" }).waitFor();
      expect(await background()).toBe(dark);
    });
  });
});
