/**
 * Checks the packages as users would install them: packs every package and inspects the result. Needs a build. Prints
 * one line for each package and check; exits with 1 when one fails.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
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

/** Runs a tool of this workspace, and includes its output in a failure. */
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

/** Fails for any file in a package that is not on this list. */
function contents(tarball: string): void {
  const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
  const stray = files.filter(
    (file) =>
      !/^package\/(package\.json|README\.md|LICENSE|dist\/.+\.(c?js|d\.c?ts|c?js\.map)|dist\/programs\/(.+\.(html|css|svg)|LICENSE-\w+\.txt))$/.test(
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

/** Installs a required peer, as npm does. */
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

/**
 * The types of OpenTelemetry's API, a peer, refer to the console, which every runtime has but ES2022 does not declare.
 */
const CONSOLE = "declare global { var console: { [method: string]: unknown } }\n";

/**
 * Compiles a program against ES2022 alone, without Node's types and the DOM's, with every library's types checked: as
 * an ES module and as CommonJS. `node10` resolution predates `exports` and knows only CommonJS.
 */
function typecheck(compiler: string, moduleResolution: string): void {
  const project = join(work, `${compiler}-${moduleResolution}`);
  mkdirSync(project);
  const files = moduleResolution === "node10" ? ["index.ts"] : ["index.mts", "index.cts"];
  for (const file of files)
    writeFileSync(
      join(project, file),
      CONSOLE +
        entries
          .map((entry, i) => `import * as entry${i} from "${entry}";\nexport type E${i} = keyof typeof entry${i};\n`)
          .join(""),
    );
  const module = { bundler: "preserve", node10: "commonjs" }[moduleResolution] ?? moduleResolution;
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    lib: ["es2022"],
    types: [],
    module,
    moduleResolution,
    ...(moduleResolution === "node10" && { ignoreDeprecations: "6.0" }),
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  run(compiler, ["-p", project], project);
}

function load(how: "import" | "require"): void {
  const program = entries
    .map((entry) => (how === "import" ? `await import("${entry}");` : `require("${entry}");`))
    .join("\n");
  const type = how === "import" ? "--input-type=module" : "--input-type=commonjs";
  execFileSync(process.execPath, [type, "--eval", program], { cwd: work, stdio: "pipe" });
}

function bothCopies(): void {
  const program = join(work, "both-copies.mjs");
  cpSync(join(import.meta.dirname, "both-copies.mjs"), program);
  execFileSync(process.execPath, ["--no-warnings", program, JSON.stringify(entries)], {
    cwd: work,
    stdio: "pipe",
    timeout: 300_000,
    env: { PATH: process.env["PATH"] },
  });
}

for (const pkg of packages) {
  const tarball = pack(pkg);
  await check(`${pkg.manifest.name}: publint`, () => lint(pkg, tarball));
  await check(`${pkg.manifest.name}: are the types wrong`, () =>
    run("attw", [tarball, "--profile", "strict", "--no-emoji"], work),
  );
  await check(`${pkg.manifest.name}: only what is needed`, () => contents(tarball));
  install(pkg, tarball);
}
for (const compiler of ["tsc", "tsc6"])
  for (const resolution of ["node16", "nodenext", "bundler"])
    await check(`types with ${compiler}, ${resolution}, lib ES2022 alone`, () => typecheck(compiler, resolution));
await check("types with tsc6, node10, lib ES2022 alone", () => typecheck("tsc6", "node10"));
for (const how of ["import", "require"] as const) await check(`${how} of every entry`, () => load(how));
await check("both builds in one process", bothCopies);

// A separate folder, because everything installed in a parent folder would be resolved.
const elsewhere = mkdtempSync(join(tmpdir(), "hivepace-command-"));
const ofCommand = commandChecks(work, elsewhere);
for (const [what, test] of Object.entries(ofCommand)) await check(`hivepace, the command: ${what}`, test);

rmSync(elsewhere, { recursive: true });
rmSync(work, { recursive: true });
process.exitCode = failed ? 1 : 0;
