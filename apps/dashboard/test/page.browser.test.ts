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
    test("the page shows the agents and their usage, live", async () => {
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

    test("a cut appears with its agent and reason, and so does the recovery", async () => {
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

    test("names are data and never markup, in any writing direction", async () => {
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

    test("an outage of the bus and its end are shown", async () => {
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

    test("buttons run their control and show its outcome", async () => {
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
      watched[0]?.complaints.splice(0); // The browser itself logs the 500 response.
    });

    test("the page is usable by keyboard alone", async () => {
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
      // The hive is one Tab stop; the next Tab leaves it.
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("As a table");
      await page.keyboard.press("Enter");
      await page.locator(".card-admitted tbody tr").first().waitFor();
      await tabTo(/^Used$/);
      await page.keyboard.press("Enter");
      await page.locator('th[aria-sort="descending"]', { hasText: "Used" }).waitFor();
    });

    test("without a connection the page is marked as old, and continues after a reconnect", async () => {
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
      watched[0]?.complaints.splice(0); // The browser itself logs failed connections.
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

  describe("on pretended swarms", () => {
    test("without agents the page names likely reasons", async () => {
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

    test.each([8, 30, 50, 80])("the labels of %i cells fit into their cells", async (count) => {
      const ids = Array.from({ length: count }, (_, i) => `agent-${i + 1}`);
      const agents = ids.map((id) => use(id, { used: [9_876], waiting: [9_876], waitedMs: 2_000 }));
      const page = await visit(
        (
          await serve({
            observer: new PretendObserver({
              ...emptySnapshot,
              members: count,
              agents: ids.map((id) => agent(id)),
              resources: [resource({ agents })],
            }),
          })
        ).url,
      );
      await until(async () => (await page.locator(".hive li").count()) === count, "all cells");
      const tooWide = await page.evaluate(`[...document.querySelectorAll(".cell-label")].filter((label) => {
        const [inner, outer] = [label, label.closest("li")].map((one) => one.getBoundingClientRect());
        const figure = label.querySelector(".cell-figure");
        return inner.left < outer.left || inner.right > outer.right || figure.scrollWidth > label.clientWidth;
      }).length`);
      expect(tooWide).toBe(0);
    });

    test("a page opened late has complete charts at once, also as tables", async () => {
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

    test("endpoints are listed worst first with their binding dimension, and the selected one determines the rest", async () => {
      const limit = (dimension: "requests" | "tokens", used: number, waiting = 0) =>
        ({ dimension, limit: 1_000, total: 1_000, used, usedSince: used, waiting }) as const;
      const resources = [
        resource({ resource: "calm", limits: [limit("requests", 100), limit("tokens", 50)] }),
        resource({ resource: "full", limits: [limit("requests", 100), limit("tokens", 960)] }),
        resource({ resource: "queueing", limits: [limit("requests", 300), limit("tokens", 700, 80)] }),
        resource({ resource: "unlimited", limits: [{ ...limit("requests", 7), limit: Infinity, total: Infinity }] }),
      ];
      const keys = [resource({ resource: "acme", limits: [limit("requests", 5)] }), resource({ resource: "globex" })];
      const observer = new PretendObserver({ ...emptySnapshot, agents: [agent("a")], resources, keys });
      const page = await visit((await serve({ observer })).url);
      const rows = page.getByRole("list", { name: "Endpoints, the worst first" });
      await rows.getByRole("button").nth(3).waitFor();
      const names = async () => rows.locator(".overview-name").allTextContents();
      expect(await names()).toEqual(["queueing", "full", "calm", "unlimited"]);
      const first = await rows.getByRole("button").first().textContent();
      expect(first).toContain("700 of 1,000 tokens a minute");
      expect(first).toContain("80 tokens waiting");
      expect(await rows.getByRole("button").first().getAttribute("aria-pressed")).toBe("true");
      await figure(page, "Admitted").locator(".value", { hasText: "700" }).waitFor();
      expect(await rows.textContent()).not.toMatch(/Infinity|∞|NaN|null/);

      await page.getByRole("button", { name: /^full/ }).click();
      await figure(page, "Admitted").locator(".value", { hasText: "960" }).waitFor();
      // The selection stays when the order changes.
      observer.now = {
        ...observer.now,
        resources: resources.map((one) => ({ ...one, pausedForMs: one.resource === "calm" ? 5_000 : 0 })),
      };
      await until(async () => (await names())[0] === "calm", "the endpoint that pauses is the first");
      expect(await figure(page, "Admitted").locator(".value").textContent()).toBe("960");

      const keyRows = page.getByRole("list", { name: "Tenant keys, the worst first" });
      expect(await keyRows.locator(".overview-name").allTextContents()).toEqual(["globex", "acme"]);
      await keyRows.getByRole("button", { name: /^acme/ }).click();
      await figure(page, "Admitted").locator(".value", { hasText: /^5$/ }).waitFor();
      await shows(page, "Its past is not kept: only that of endpoints is.");
    });

    test.each(["light", "dark"] as const)(
      "twelve endpoints and fifty agents fit on a phone of 360 pixels: %s",
      async (colorScheme) => {
        const region = (i: number) => `azure-openai-production-deployment-in-a-region-${i}`;
        const ids = Array.from({ length: 50 }, (_, i) => `worker-in-a-cluster-with-a-long-name-7f9c6d5b4-${i}`);
        const resources = Array.from({ length: 12 }, (_, i) =>
          resource({ resource: region(i), level: i % 3 === 0 ? 0.5 : 1, agents: ids.map((id) => use(id)) }),
        );
        const keys = [resource({ resource: "a-tenant-with-a-name-that-is-far-too-long-for-a-phone" })];
        const agents = ids.map((id) => agent(id));
        const observer = new PretendObserver({ ...emptySnapshot, members: 50, agents, resources, keys });
        const page = await visit((await serve({ observer })).url, {
          colorScheme,
          viewport: { width: 360, height: 740 },
        });
        await page.locator(".agents tbody tr").nth(19).waitFor();
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
        // Usage, share and queue are visible without horizontal scrolling.
        const scroller = "document.querySelector('.card-agents .scroller')";
        expect(await page.evaluate(`${scroller}.scrollWidth - ${scroller}.clientWidth`)).toBeLessThanOrEqual(0);
        // The ends of names, by which they differ, are visible too.
        const cutTails =
          "[...document.querySelectorAll('.overview .long-name-tail, .agents .long-name-tail')].filter((tail) => tail.scrollWidth > tail.clientWidth + 1).length";
        expect(await page.evaluate(cutTails)).toBe(0);
        expect(await seriousFindings(page)).toEqual([]);
      },
    );

    test("usage from the store is shown per endpoint, and endpoints can be selected", async () => {
      const observer = new PretendObserver({
        ...emptySnapshot,
        agents: [agent("a")],
        resources: [resource(), resource({ resource: "<us>", level: 0.25 })],
      });
      const usage = { endpoint: "<eu>", model: "m", rpm: 12, tpm: 34, utilization: 0.42, agents: 5, ageMs: 900 };
      const page = await visit((await serve({ observer, globalUsage: () => [usage] })).url);
      await shows(page, "From the shared store");
      expect(await page.locator(".endpoints li").textContent()).toContain("<eu>/m42 %");
      await page.getByRole("combobox", { name: "Endpoint" }).selectOption({ label: "<us>" });
      await figure(page, "Level").locator(".value", { hasText: "25 %" }).waitFor();
    });

    test("the theme follows the system until one is chosen, and the choice persists", async () => {
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
