import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ObservedResource, SwarmSnapshot } from "@hivepace/distributed";
import { findChromium } from "@hivepace/servers";
import { chromium } from "playwright-core";
import { startDashboard } from "../src/index.ts";
import { agent, emptySnapshot, PretendObserver, resource, use } from "./support/pretend-observer.ts";

// Screenshots of the page in many states, to review visual changes: tsx test/gallery.ts <folder> [scene]

const ODD = [
  "عامل-النحل-الأول",
  '<img src=x onerror="alert(1)">',
  "worker-with-a-very-long-name-in-a-cluster-eu-central-1a-7f9c6d5b4-x2x8z",
  "worker-with-a-very-long-name-in-a-cluster-eu-central-1a-7f9c6d5b4-q7k4d",
];
const ENDPOINTS = [
  "openai/gpt-large",
  "azure-openai-production-west-europe-deployment-a",
  "azure-openai-production-west-europe-deployment-b",
  "anthropic/claude",
  "anthropic/claude-small",
  "gemini/pro",
  "gemini/flash",
  "groq",
  "mistral",
  "bedrock-us-east-1",
  "bedrock-eu-central-1",
  "embeddings",
];
const KEYS = ["acme", "globex", "initech-with-a-long-name-and-a-region-eu", "initech-with-a-long-name-and-a-region-us"];
const wave = (i: number): number => Math.sin(i * 1.7) * 0.5 + 0.5;

function limitsOf(ids: readonly string[], seed: number, level: number): Partial<ObservedResource> {
  const totals = [1_000 * level, 100_000 * level];
  const uses = ids.map((id, i) => {
    const share = totals.map((all) => (all / ids.length) * (0.6 + 0.4 * wave(i + seed)));
    const isBusy = seed % 5 === 0 && wave(i * 3) > 0.8;
    return use(id, {
      share,
      used: share.map((one, j) => one * wave(i * 5 + seed * 3 + j)),
      waiting: isBusy ? [3, 900] : [0, 0],
      waitedMs: isBusy ? 2_400 : 0,
      heldMs: 0,
    });
  });
  const limits = (["requests", "tokens"] as const).map((dimension, i) => ({
    dimension,
    limit: [1_000, 100_000][i] as number,
    total: totals[i] as number,
    used: uses.reduce((sum, one) => sum + (one.used[i] as number), 0),
    usedSince: 5_000,
    waiting: uses.reduce((sum, one) => sum + (one.waiting[i] as number), 0),
  }));
  return { limits, level, agents: uses };
}

function swarm(count: number, endpoints: number): SwarmSnapshot {
  const ids = Array.from({ length: count }, (_, i) =>
    i < ODD.length && count >= 8 ? String(ODD[i]) : `agent-${i + 1}`,
  );
  const agents = ids.map((id, i) =>
    agent(id, i % 11 === 7 ? { state: "silent", lastMessageAgoMs: 8_000 } : i % 17 === 12 ? { state: "left" } : {}),
  );
  const resources = ENDPOINTS.slice(0, endpoints).map((name, i) => {
    const level = i % 5 === 1 ? 0.5 : 1;
    const cause = { agentId: String(ids[1] ?? ids[0]), reason: '429 <b>slow down</b>: "requests"', agoMs: 4_000 };
    return resource({
      resource: name,
      ...limitsOf(ids, i, level),
      cause: level < 1 ? cause : undefined,
      risesInMs: level < 1 ? 12_000 : undefined,
      pausedForMs: i === 8 ? 7_000 : 0,
    });
  });
  if (endpoints > 1)
    resources.push(
      resource({
        resource: "local-model",
        limits: [{ dimension: undefined, limit: Infinity, total: Infinity, used: 12, usedSince: 40, waiting: 0 }],
        agents: ids.slice(0, 2).map((id) => use(id, { used: [6], share: [Infinity], waiting: [0] })),
      }),
    );
  const keys =
    endpoints > 1 ? KEYS.map((name, i) => resource({ resource: name, ...limitsOf(ids.slice(0, 3), i + 4, 1) })) : [];
  return {
    bus: "ready",
    observedMs: 90_000,
    members: count,
    agents,
    resources,
    keys,
    availability: [],
    received: 12_345,
    ignored: { unsigned: 3 },
  };
}

const folder = process.argv[2] ?? "gallery";
const only = process.argv[3];
await mkdir(folder, { recursive: true });
const browser = await chromium.launch(await findChromium());
const scenes: Record<string, SwarmSnapshot> = { empty: emptySnapshot };
for (const agents of [1, 8, 50, 1_000])
  for (const endpoints of [1, 12]) scenes[`${agents}-agents-${endpoints}-endpoints`] = swarm(agents, endpoints);
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 780 } };
const WARM_UP_MS = 4_000;

for (const [scene, snapshot] of Object.entries(scenes)) {
  if (only !== undefined && !scene.startsWith(only)) continue;
  const observer = new PretendObserver(snapshot);
  const isDemo = scene.startsWith("8-agents-1-");
  const controls = ["Cut the limit", "Kill an agent", "Kill the bus", "Add ten agents"].map((label, i) => ({
    id: `c${i}`,
    label,
    about: "Its effect on the swarm, in a few words.",
    run: async () => `${label}: done.`,
  }));
  let seconds = 0;
  const provider = () => ({
    windowMs: 60_000,
    limitRpm: 1_000,
    accepted: 17 * ++seconds,
    rejected429: 2 * Math.floor(seconds / 5),
    usedRequests: 420,
    usedTokens: 50_000,
  });
  const dashboard = await startDashboard({
    observer,
    title: "Demo swarm",
    ...(isDemo && { controls, provider }),
  });
  if (snapshot.agents.length > 1) {
    const [first] = snapshot.resources;
    const cut = { resource: String(first?.resource), agentId: String(ODD[1]), reason: "429: slow down" };
    for (const { agentId } of snapshot.agents) observer.emit({ type: "joined", agentId });
    observer.emit({ type: "cut", ...cut, level: 0.5, newCapacity: 500 });
    observer.emit({ type: "paused", ...cut, agentId: "agent-5", reason: "overloaded", pausedForMs: 3_000 });
    observer.emit({ type: "raised", resource: cut.resource, level: 0.55, newCapacity: 550 });
  }
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  for (const [size, viewport] of Object.entries(sizes))
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport, colorScheme });
      page.on("console", (message) => console.log(scene, size, message.text()));
      page.on("pageerror", (error) => console.log(scene, size, String(error)));
      await page.goto(dashboard.url);
      await page.waitForSelector(".figure");
      await page.waitForTimeout(1_000);
      const width = (await page.evaluate("document.documentElement.scrollWidth")) as number;
      if (width > viewport.width) console.log(`${scene} ${size}: ${width} pixels wide`);
      await page.screenshot({ path: join(folder, `${scene}-${size}-${colorScheme}.png`), fullPage: true });
      await page.close();
    }
  await dashboard.close();
}
await browser.close();
