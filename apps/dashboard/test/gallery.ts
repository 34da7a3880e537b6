import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { SwarmSnapshot } from "@hivepace/distributed";
import { findChromium } from "@hivepace/servers";
import { chromium } from "playwright-core";
import { startDashboard } from "../src/index.ts";
import { agent, emptySnapshot, PretendObserver, resource, use } from "./support/pretend-observer.ts";

// Pictures of the page in many states, for whoever changes how it looks: tsx test/gallery.ts <folder>

const names = [
  "عامل-النحل-الأول",
  '<img src=x onerror="alert(1)">',
  "worker-with-a-very-long-name-in-a-cluster-with-long-names-eu-central-1a-7f9c6d5b4-x2x8z",
];
const wave = (i: number): number => Math.sin(i * 1.7) * 0.5 + 0.5;

function swarm(count: number, level = 1): SwarmSnapshot {
  const ids = Array.from({ length: count }, (_, i) => (i < 3 && count >= 8 ? String(names[i]) : `agent-${i + 1}`));
  const total = [1_000 * level, 100_000 * level];
  const agents = ids.map((id, i) =>
    agent(id, i % 11 === 7 ? { state: "silent", heardAgoMs: 8_000 } : i % 17 === 12 ? { state: "left" } : {}),
  );
  const uses = ids.map((id, i) => {
    const share = total.map((all) => (all / count) * (0.6 + 0.4 * wave(i)));
    const isBusy = wave(i * 3) > 0.8;
    return use(id, {
      share,
      used: share.map((one) => one * wave(i * 5)),
      waiting: isBusy ? [3, 900] : [0, 0],
      waitedMs: isBusy ? 2_400 : 0,
    });
  });
  const limits = (["requests", "tokens"] as const).map((dimension, i) => ({
    dimension,
    limit: [1_000, 100_000][i] as number,
    total: total[i] as number,
    used: uses.reduce((sum, one) => sum + (one.used[i] as number), 0),
    usedSince: 5_000,
    waiting: uses.reduce((sum, one) => sum + (one.waiting[i] as number), 0),
  }));
  const cause =
    level < 1
      ? { agentId: String(ids[1]), reason: '429 <b>rate_limit_exceeded</b>: "slow down"', agoMs: 4_000 }
      : undefined;
  const eu = resource({ limits, level, cause, risesInMs: level < 1 ? 12_000 : undefined, agents: uses });
  const us = resource({
    resource: "anthropic/claude",
    limits: [{ dimension: undefined, limit: Infinity, total: Infinity, used: 12, usedSince: 40, waiting: 0 }],
    agents: uses.slice(0, 2).map((one) => ({ ...one, used: [6], share: [Infinity], waiting: [0] })),
  });
  return {
    bus: "ready",
    observedMs: 90_000,
    members: count,
    agents,
    resources: [eu, us],
    keys: [],
    heard: 12_345,
    ignored: { unsigned: 3 },
  };
}

const folder = process.argv[2] ?? "gallery";
const only = process.argv[3];
await mkdir(folder, { recursive: true });
const opened = await chromium.launch(await findChromium());
const scenes: Record<string, SwarmSnapshot> = {
  empty: emptySnapshot,
  one: swarm(1),
  eight: swarm(8, 0.5),
  hundred: swarm(100),
  thousand: swarm(1_000, 0.7),
};
const looks = [
  { name: "desktop-light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "desktop-dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone-light", colorScheme: "light", viewport: { width: 390, height: 844 } },
] as const;

for (const [scene, snapshot] of Object.entries(scenes)) {
  if (only !== undefined && only !== scene) continue;
  const observer = new PretendObserver(snapshot);
  const controls = ["Cut the limit", "Kill an agent", "Kill the bus", "Add ten agents"].map((label, i) => ({
    id: `c${i}`,
    label,
    about: "What it does to the swarm, in a few words.",
    run: async () => `${label}: done.`,
  }));
  let seconds = 0;
  const dashboard = await startDashboard({
    observer,
    title: "Demo swarm",
    controls: scene === "empty" ? [] : controls,
    ...(scene === "empty"
      ? {}
      : {
          provider: () => ({
            windowMs: 60_000,
            limitRpm: 1_000,
            accepted: 17 * ++seconds,
            rejected429: 2 * Math.floor(seconds / 5),
            usedRequests: 420,
            usedTokens: 50_000,
          }),
        }),
  });
  if (scene === "eight") {
    for (const { agentId } of snapshot.agents) observer.emit({ type: "joined", agentId });
    observer.emit({
      type: "cut",
      resource: "openai",
      agentId: String(names[1]),
      reason: "429: slow down",
      level: 0.5,
      newCapacity: 500,
    });
    observer.emit({ type: "paused", resource: "openai", agentId: "agent-4", reason: "overloaded", pausedForMs: 3_000 });
    observer.emit({ type: "raised", resource: "openai", level: 0.55, newCapacity: 550 });
    observer.emit({ type: "bus", state: "interrupted" });
  }
  for (const { name, ...look } of looks) {
    const page = await opened.newPage(look);
    page.on("console", (message) => console.log(scene, name, message.text()));
    page.on("pageerror", (error) => console.log(scene, name, String(error)));
    await page.goto(dashboard.url);
    await page.waitForSelector(".figure");
    await page.waitForTimeout(2_500);
    await page.screenshot({ path: join(folder, `${scene}-${name}.png`), fullPage: true });
    await page.close();
  }
  await dashboard.close();
}
await opened.close();
