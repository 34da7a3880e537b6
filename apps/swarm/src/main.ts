import { setTimeout as sleep } from "node:timers/promises";
import { MemoryLimiter } from "@hivepace/core";
import { startProvider } from "./provider.ts";
import { runSwarm, type Tally } from "./swarm.ts";

const LIMIT = 20;
const AGENTS = 8;
const SECONDS = 4;

const provider = await startProvider(LIMIT);
const swarm = { url: provider.url, agents: AGENTS, durationMs: SECONDS * 1_000 };
console.log(
  `A provider allows ${LIMIT} requests a second. ${AGENTS} agents share the account, for ${SECONDS} s each way.\n`,
);

const report = (how: string, { accepted, refused }: Tally): void => {
  const wasted = Math.round((100 * refused) / (accepted + refused));
  console.log(
    `${how.padEnd(32)} ${`${accepted}`.padStart(4)} accepted ${`${refused}`.padStart(6)} × 429   ${wasted} % wasted`,
  );
};

// Each agent for itself: as fast as one polite call in ten milliseconds.
report("every agent for itself", await runSwarm({ ...swarm, before: () => sleep(10) }));

// The window of the first run must be over before the second begins.
await sleep(1_000);

// One limiter for all of them, a little below the provider's limit so that no jitter on the way can exceed it.
const limiter = new MemoryLimiter();
limiter.setCapacity("provider", LIMIT * 0.8, 1_000, { burst: 1 });
const paced = await runSwarm({ ...swarm, before: (signal) => limiter.acquire("provider", { signal }) });
report("with Hivepace", paced);

await limiter.close();
await provider.close();
console.log(
  paced.refused === 0 ? "\nNo request was wasted." : "\nThe provider refused paced requests: it should not have.",
);
process.exitCode = paced.refused === 0 ? 0 : 1;
