import type { Situation } from "../../packages/distributed/test/support/flat-costs.ts";
import type { Row } from "./row.ts";
import { median, ratiosOf } from "./statistics.ts";
import type { RunParameters } from "./suite.ts";

/**
 * Measures one operation in situations of growing size, in turns, `batch` calls at a time. Each row after the first is
 * compared with the first.
 */
export async function grown(
  sizes: readonly number[],
  situationOf: (size: number) => Promise<Situation>,
  batch: number,
  { rounds, warmUpRounds }: RunParameters,
  nameOf: (size: number) => string,
): Promise<Row[]> {
  const situations: Situation[] = [];
  for (const size of sizes) situations.push(await situationOf(size));
  const times = sizes.map((): number[] => []);
  for (let round = -warmUpRounds; round < rounds; round++)
    for (const [i, { once }] of situations.entries()) {
      const start = performance.now();
      for (let call = 0; call < batch; call++) once();
      if (round >= 0) times[i]?.push(((performance.now() - start) * 1e6) / batch);
    }
  await Promise.all(situations.map(({ close }) => close()));
  const [first = []] = times;
  const against = nameOf(sizes[0] as number);
  return sizes.map((size, i): Row => {
    const value = median(times[i] as number[]);
    const row = { what: nameOf(size), value, unit: "ns" };
    return i === 0 ? row : { ...row, against, ratio: ratiosOf(times[i] as number[], first) };
  });
}
