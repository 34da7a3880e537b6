/**
 * What users would install: packs every package as npm would get it and looks at the result. Needs a build.
 * Prints one line for each package and check; exits 1 when one fails.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { commandChecks } from "./published-command.ts";
import { type Package, packages, root } from "./workspace.ts";

const work = mkdtempSync(join(tmpdir(), "hivepace-published-"));
let failed = false;

/** Runs a tool of this workspace; its output matters only when it fails. */
function run(command: string, args: string[], cwd: string): string {
  return execFileSync(join(root, "node_modules/.bin", command), args, { cwd, encoding: "utf8", stdio: "pipe" });
}

async function check(what: string, test: () => unknown): Promise<void> {
  try {
    await test();
    console.log(`ok      ${what}`);
  } catch (error) {
    failed = true;
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
    console.log(`FAILED  ${what}\n${stdout}${stderr}${stdout + stderr ? "" : message}`);
  }
}

function pack(pkg: Package): string {
  const output = execFileSync("npx", ["-y", "pnpm@12.18.0", "pack", "--json", "--pack-destination", work], {
    cwd: pkg.path,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return (JSON.parse(output) as { filename: string }).filename;
}

async function lint(pkg: Package, tarball: string): Promise<void> {
  const bytes = readFileSync(tarball);
  const content = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const { messages, pkg: manifest } = await publint({ pack: { tarball: content }, strict: true });
  if (messages.length > 0) throw new Error(messages.map((m) => formatMessage(m, manifest)).join("\n"));
  if (JSON.stringify(manifest["exports"]).includes("@hivepace/source"))
    throw new Error(`${pkg.folder} leads to its source`);
}

/** Only what is needed: nothing but these may be in a package. */
function contents(tarball: string): void {
  const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
  const stray = files.filter(
    (file) =>
      !/^package\/(package\.json|README\.md|LICENSE|dist\/.+\.(js|d\.ts|js\.map)|dist\/programs\/(.+\.(html|css|svg)|LICENSE-\w+\.txt))$/.test(
        file,
      ),
  );
  if (stray.length > 0) throw new Error(`not needed: ${stray.join(", ")}`);
  for (const needed of ["package/README.md", "package/LICENSE"])
    if (!files.includes(needed)) throw new Error(`missing: ${needed}`);
}

function install(pkg: Package, tarball: string): void {
  const target = join(work, "node_modules", pkg.manifest.name);
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  for (const peer of Object.keys(pkg.manifest.peerDependencies ?? {})) installPeer(pkg, peer);
}

/** As npm does with peers that are not optional. */
function installPeer(pkg: Package, peer: string): void {
  const { peerDependenciesMeta } = pkg.manifest as { peerDependenciesMeta?: Record<string, { optional?: boolean }> };
  const target = join(work, "node_modules", peer);
  if (peerDependenciesMeta?.[peer]?.optional || existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(realpathSync(join(pkg.path, "node_modules", peer)), target);
}

const entries = packages.flatMap(({ manifest }) =>
  Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === "string" ? [] : [manifest.name + entry.slice(1)],
  ),
);

/** The types of OpenTelemetry's API, a peer, name the console. All runtimes have one, ES2022 has not. */
const CONSOLE = "declare global { var console: { [method: string]: unknown } }\n";

/** A program with nothing but ES2022, neither Node's types nor the DOM's, and every library's types checked. */
function typecheck(compiler: string, moduleResolution: string): void {
  const project = join(work, `${compiler}-${moduleResolution}`);
  mkdirSync(project);
  writeFileSync(
    join(project, "index.ts"),
    CONSOLE +
      entries
        .map((entry, i) => `import * as entry${i} from "${entry}";\nexport type E${i} = keyof typeof entry${i};\n`)
        .join(""),
  );
  const module = moduleResolution === "bundler" ? "preserve" : moduleResolution;
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    lib: ["es2022"],
    types: [],
    module,
    moduleResolution,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  run(compiler, ["-p", project], project);
}

function load(how: "import" | "require"): void {
  const program = entries
    .map((entry) => (how === "import" ? `await import("${entry}");` : `require("${entry}");`))
    .join("\n");
  const type = how === "import" ? "--input-type=module" : "--input-type=commonjs";
  execFileSync(process.execPath, [type, "--eval", program], { cwd: work, stdio: "pipe" });
}

for (const pkg of packages) {
  const tarball = pack(pkg);
  await check(`${pkg.manifest.name}: publint`, () => lint(pkg, tarball));
  await check(`${pkg.manifest.name}: are the types wrong`, () =>
    run("attw", [tarball, "--profile", "esm-only", "--no-emoji"], work),
  );
  await check(`${pkg.manifest.name}: only what is needed`, () => contents(tarball));
  install(pkg, tarball);
}
for (const compiler of ["tsc", "tsc6"])
  for (const resolution of ["node16", "nodenext", "bundler"])
    await check(`types with ${compiler}, ${resolution}, lib ES2022 alone`, () => typecheck(compiler, resolution));
for (const how of ["import", "require"] as const) await check(`${how} of every entry`, () => load(how));

// Elsewhere: from a folder inside of the first, everything in it would be found.
const elsewhere = mkdtempSync(join(tmpdir(), "hivepace-command-"));
const ofCommand = commandChecks(work, elsewhere);
for (const [what, test] of Object.entries(ofCommand)) await check(`hivepace, the command: ${what}`, test);

rmSync(elsewhere, { recursive: true });
rmSync(work, { recursive: true });
process.exitCode = failed ? 1 : 0;
