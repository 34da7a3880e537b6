import { expect, test } from "vitest";
import { progress } from "./progress.ts";

test("a long run reports its progress and remaining time every half minute", () => {
  let now = 0;
  const lines: string[] = [];
  const said = progress(
    "a run",
    100,
    (line) => lines.push(line.trim()),
    () => now,
  );
  for (let done = 1; done <= 100; done++) {
    now += 6_000;
    said(done);
  }
  expect(lines.slice(0, 2)).toEqual(["a run: 5 %, about 10 min left", "a run: 10 %, about 9 min left"]);
  expect(lines).toHaveLength(19);
});

test("a short run reports no progress", () => {
  const lines: string[] = [];
  const said = progress(
    "a run",
    3,
    (line) => lines.push(line),
    () => 0,
  );
  for (let done = 1; done <= 3; done++) said(done);
  expect(lines).toEqual([]);
});
