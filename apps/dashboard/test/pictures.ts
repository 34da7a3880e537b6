import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findChromium } from "@hivepace/servers";
import { chromium } from "playwright-core";
import { startDashboard } from "../src/index.ts";
import { ENDPOINT, liveSwarm } from "./support/live-swarm.ts";

// The screenshots of the documentation, of a real swarm of twelve agents after a cut: tsx test/pictures.ts [folder]

const SHARES = [1, 0.9, 0.8, 0.35, 1, 0.5, 0.15, 0.95, 1, 0.6, 0.25, 0.75];
const WARM_UP_MS = 45_000;
const AFTER_CUT_MS = 11_000;

const folder = process.argv[2] ?? fileURLToPath(new URL("../../../docs/pictures/", import.meta.url));
await mkdir(folder, { recursive: true });
const swarm = await liveSwarm({ rpm: 600, tpm: 120_000, windowMs: 10_000 });
const trouble = (id: string, label: string, about: string) => ({ id, label, about, run: async () => `${label}.` });
const controls = [
  trouble("cut", "Cut the limit", "The provider allows half of it from now on."),
  trouble("kill", "Kill an agent", "It is gone without a word."),
  trouble("bus", "Kill the bus", "Nobody hears anybody for a while."),
  trouble("add", "Add ten agents", "They take their part of the limit."),
];
const dashboard = await startDashboard({ observer: swarm.observer, title: "Demo swarm", controls });
const browser = await chromium.launch(await findChromium());
try {
  for (const [i, share] of SHARES.entries()) await swarm.add(`agent-${i + 1}`, 170 / share);
  await pause(WARM_UP_MS);
  swarm.hives.get("agent-5")?.announceReduced(ENDPOINT, "429 rate_limit_exceeded: requests a minute");
  await pause(AFTER_CUT_MS);
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 1100 }, deviceScaleFactor: 1 });
    await page.goto(dashboard.url);
    await page.waitForSelector(".hive li:nth-child(12)");
    // Waits for the animation of the first fill levels.
    await pause(1_500);
    await page.screenshot({ path: `${folder}/dashboard-${colorScheme}.png` });
    await page.close();
  }
} finally {
  await browser.close();
  await dashboard.close();
  await swarm.close();
}
