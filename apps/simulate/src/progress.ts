/** Runs shorter than this report no progress. */
const EVERY_MS = 30_000;

/** Reports the progress and the estimated remaining time of a long run, apart from the results. */
export function progress(
  name: string,
  whole: number,
  say: (line: string) => void,
  now: () => number = Date.now,
): (done: number) => void {
  const startedAt = now();
  let saidAt = startedAt;
  return (done) => {
    const time = now();
    if (time - saidAt < EVERY_MS || done <= 0 || done >= whole) return;
    saidAt = time;
    const minutes = ((time - startedAt) * (whole / done - 1)) / 60_000;
    say(`     ${name}: ${Math.round((100 * done) / whole)} %, about ${Math.max(1, Math.round(minutes))} min left`);
  };
}
