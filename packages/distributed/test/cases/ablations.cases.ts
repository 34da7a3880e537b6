import type { Case } from "@hivepace/verify";
import { runTuned, runUnseen } from "../ablations/ablation.ts";
import { ablations } from "../ablations/ablations.ts";
import { slug } from "../support/slug.ts";

/** Ablations with more seeds than this run only in `verify`. */
const QUICK_SEEDS = 8;
/** Seeds that were not used to choose the bounds. */
const UNSEEN = Array.from({ length: 12 }, (_, i) => 1_001 + i);

export const cases: readonly Case[] = ablations.flatMap((ablation) => {
  const { name, seeds, seconds } = ablation;
  const id = `ablations/${slug(name.split(":", 1)[0] as string)}`;
  return [
    {
      id: `${id}/seeds-as-tuned`,
      seconds: seeds.length * seconds,
      isQuick: seeds.length <= QUICK_SEEDS,
      run: () => runTuned(ablation),
    },
    { id: `${id}/unseen-seeds`, seconds: UNSEEN.length * seconds, run: () => runUnseen(ablation, UNSEEN) },
  ];
});
