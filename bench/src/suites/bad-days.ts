import { setTimeout as pause } from "node:timers/promises";
import { AGENTS, type Contender, hivepace, plain } from "../bad-days/contenders.ts";
import { type Day, days, WANTED } from "../bad-days/days.ts";
import { type BadProvider, startBadProvider } from "../bad-days/provider.ts";
import type { Row } from "../row.ts";
import { quantile } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

/** What came of one contender's day. */
interface Outcome {
  readonly completed: number;
  readonly failed: number;
  /** Requests that reached a provider for each completed call. */
  readonly sentPerCompleted: number;
  readonly p50: number;
  readonly p99: number;
}

const NAMES = ["Hivepace", "plain SDK"] as const;

async function measure(day: Day, name: (typeof NAMES)[number], runMs: number): Promise<Outcome> {
  let startedAt = performance.now();
  const providers: BadProvider[] = [];
  for (const behave of day.endpoints(runMs)) providers.push(await startBadProvider(behave, () => startedAt));
  const urls = providers.map(({ url }) => url);
  if (day.isSecondGone) await providers[1]?.close();
  const contender = name === "Hivepace" ? await hivepace(urls, day) : plain(urls);
  try {
    // The hives first receive each other's messages.
    await pause(2_500);
    startedAt = performance.now();
    const driven = await drive(contender, runMs);
    const sent = providers.reduce((sum, provider) => sum + provider.sent, 0);
    return { ...driven, sentPerCompleted: sent / Math.max(1, driven.completed) };
  } finally {
    await contender.close();
    await Promise.all(providers.map((provider) => provider.close()));
  }
}

/** Sends calls at a steady rate for the run, and counts those that are completed by its end and a grace after it. */
async function drive(
  { callers }: Contender,
  runMs: number,
): Promise<Pick<Outcome, "completed" | "failed" | "p50" | "p99">> {
  const latencies: number[] = [];
  let failed = 0;
  const one = async (i: number): Promise<void> => {
    const at = performance.now();
    try {
      await callers[i % AGENTS]?.(i % (2 * AGENTS) < AGENTS ? "small" : "big");
      latencies.push(performance.now() - at);
    } catch {
      failed++;
    }
  };
  const startedAt = performance.now();
  const pending: Promise<void>[] = [];
  for (let i = 0; ; i++) {
    const dueAt = startedAt + (i * 1_000) / WANTED;
    if (dueAt >= startedAt + runMs) break;
    await pause(Math.max(0, dueAt - performance.now()));
    pending.push(one(i));
  }
  await Promise.race([Promise.all(pending), pause(runMs / 2)]);
  return { completed: latencies.length, failed, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

export const badDays: FreeSuite = {
  kind: "free",
  name: "bad-days",
  title:
    "Four agents with the SDKs of OpenAI and Anthropic on days on which a provider does not work as it should: with Hivepace, and with the SDKs' own retries.",
  async measure({ quick }) {
    const runMs = quick ? 6_000 : 20_000;
    const rows: Row[] = [];
    for (const day of days) {
      // Side by side: what slows the machine slows both.
      const [ours, theirs] = await Promise.all(NAMES.map((name) => measure(day, name, runMs)));
      for (const [name, outcome] of [
        [NAMES[0], ours],
        [NAMES[1], theirs],
      ] as const) {
        if (!outcome || !theirs) continue;
        const isOurs = name === NAMES[0];
        rows.push({
          what: `${day.name}: ${name}, completed`,
          value: outcome.completed,
          unit: "calls",
          ...(isOurs
            ? { wanted: { of: "value", direction: "at least", limit: Math.floor(0.95 * theirs.completed) } as const }
            : {}),
        });
        rows.push({ what: `${day.name}: ${name}, sent per completed call`, value: outcome.sentPerCompleted, unit: "" });
        rows.push({ what: `${day.name}: ${name}, p50`, value: outcome.p50, unit: "ms" });
        rows.push({ what: `${day.name}: ${name}, p99`, value: outcome.p99, unit: "ms" });
      }
    }
    return rows;
  },
};
