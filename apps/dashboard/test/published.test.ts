import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAGE_FILES, PAGE_FOLDER } from "../src/assets.ts";
import { buildPage } from "../src/build-page.ts";

const program = `
import { startDashboard } from "./dashboard.js";
const observer = {
  namespace: "",
  snapshot: () => ({ bus: "ready", observedMs: 0, members: 0, agents: [], resources: [], received: 0, ignored: {} }),
  onEvent: () => () => {},
};
const dashboard = await startDashboard({ observer });
const paths = ["/", "/page.js", "/page.css", "/icon.svg"];
const answers = await Promise.all(paths.map((path) => fetch(dashboard.url + path)));
console.log(JSON.stringify(await Promise.all(answers.map((answer) => answer.text()))));
await dashboard.close();
`;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-dashboard-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a bundle with the built page next to it needs neither sources nor esbuild", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
    outfile: join(folder, "dashboard.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@hivepace/source"],
    metafile: true,
  });
  expect(Object.keys(metafile.inputs).filter((file) => /esbuild|uplot|src\/page\//i.test(file))).toEqual([]);
  await buildPage(join(folder, PAGE_FOLDER));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "program.js"), program);
  const { stdout } = await promisify(execFile)(process.execPath, ["program.js"], {
    cwd: folder,
    maxBuffer: 10_000_000,
  });
  const served = JSON.parse(stdout) as string[];
  const built = PAGE_FILES.map(({ name }) => readFile(join(folder, PAGE_FOLDER, name), "utf8"));
  expect(served).toEqual(await Promise.all(built));
  expect(served[1]).toContain("Contains uPlot");
  expect(served[2]).toContain(".u-wrap");
});
