import { readFileSync } from "node:fs";
import { join } from "node:path";
import { committable, root } from "@hivepace/checks";
import { expect, test } from "vitest";

const MAIN = "https://github.com/hivepace/hivepace/blob/main/";

test("every link of llms.txt leads to a file of the repository", () => {
  const text = readFileSync(join(root, "llms.txt"), "utf8");
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
  const files = new Set(committable(/./));
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !link.startsWith(MAIN) || !files.has(link.slice(MAIN.length)))).toEqual([]);
});
