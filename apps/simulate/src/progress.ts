/** What is over sooner needs no word. */
const EVERY_MS = 30_000;

/** Says now and then, beside the results, how far something is that takes long, and how long it will still take. */
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
