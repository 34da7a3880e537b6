import { expect, test } from "vitest";
import { siteLink } from "../src/rewrite-links.ts";

const MAIN = "https://github.com/hivepace/hivepace/blob/main";

test.each([
  ["algorithm.md", "wire.md#bounds", "wire.md#bounds"],
  ["algorithm.md", "#results", "#results"],
  ["algorithm.md", "https://example.com/a.md", "https://example.com/a.md"],
  ["README.md", "decisions/README.md", "decisions/index.md"],
  ["decisions/0008-one-layer-retries.md", "../README.md", "../index.md"],
  ["decisions/0008-one-layer-retries.md", "../wire.md", "../wire.md"],
  ["README.md", "../CONTRIBUTING.md#long-checks", `${MAIN}/CONTRIBUTING.md#long-checks`],
  ["decisions/README.md", "../../ARCHITECTURE.md", `${MAIN}/ARCHITECTURE.md`],
  ["README.md", "../examples/src", "https://github.com/hivepace/hivepace/tree/main/examples/src"],
])("in %s, %s leads to %s", (document, link, address) => {
  expect(siteLink(document, link)).toBe(address);
});
