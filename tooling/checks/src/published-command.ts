/** Checks of the published `hivepace` command: from its packed files, in a folder with only its dependencies. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import ts from "typescript";
import { type Package, packages } from "./workspace.ts";

const ADAPTER = /^(@hivepace\/(bus-|sync-)|ioredis$)/;

/** Returns the checks by name. `installed` contains every package of this workspace as npm would unpack it. */
export function commandChecks(installed: string, work: string): Record<string, () => unknown> {
  const pkg = packages.find(({ manifest }) => manifest.name === "hivepace") as Package;
  const alone = join(work, "alone");
  copyWithDependencies("hivepace", installed, alone);
  const { bin } = pkg.manifest as unknown as { bin: { hivepace: string } };
  const program = join(alone, "node_modules/hivepace", bin.hivepace);

  const run = (args: readonly string[], cwd = alone) => {
    const options = { cwd, encoding: "utf8", timeout: 120_000, env: { PATH: process.env["PATH"] } } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options);
    if (/^\s+at /m.test(stderr)) throw new Error(`a stack trace:\n${stderr}`);
    return { status, stdout, stderr, all: stdout + stderr };
  };
  const expect = (args: readonly string[], status: number, words: RegExp, cwd?: string): void => {
    const ended = run(args, cwd);
    if (ended.status !== status || !words.test(ended.all))
      throw new Error(`${args.join(" ")} ended with ${ended.status}:\n${ended.all}`);
  };

  return {
    "its programs import what it declares, and adapters when asked for": () => {
      const declared = Object.keys(pkg.manifest.dependencies ?? {});
      const strange = importsOf(join(pkg.path, "dist/programs")).filter((specifier) => {
        const name = specifier.match(/^(@[^/]+\/[^/]+|[^@/][^/]*)/)?.[0] ?? "";
        return !/^(\.|node:)/.test(specifier) && !declared.includes(name) && !ADAPTER.test(name);
      });
      if (strange.length > 0) throw new Error(`not declared: ${strange.join(", ")}`);
    },
    "--help": () => expect(["--help"], 0, /^hivepace <command>/),
    "--version": () => expect(["--version"], 0, new RegExp(`^hivepace ${pkg.manifest["version"]}, node`)),
    "a bus whose adapter is missing": () =>
      expect(
        ["status", "--bus", "nats://127.0.0.1:1"],
        1,
        /npm install @hivepace\/bus-nats @nats-io\/transport-node$/m,
      ),
    "a Redis whose adapter is missing": () =>
      expect(["status", "--redis", "redis://127.0.0.1:1"], 1, /npm install @hivepace\/sync-redis ioredis$/m),
    "doctor, without an adapter": () =>
      expect(["doctor", "--bus", "kafka://127.0.0.1:1"], 1, /npm install @hivepace\/bus-kafka/),
    "an address whose adapter is missing, for a program": () => {
      const call = `createHive({ bus: "nats://a", namespace: "n", endpoints: [] }).catch((error) => console.log(error.message))`;
      for (const [file, load] of [
        ["program.mjs", 'import { createHive } from "hivepace";'],
        ["program.cjs", 'const { createHive } = require("hivepace");'],
      ] as const) {
        writeFileSync(join(alone, file), `${load}\n${call};`);
        // Without NODE_PATH, by which package managers let CommonJS resolve packages that are not installed here.
        const options = { cwd: alone, encoding: "utf8", timeout: 120_000, env: { PATH: process.env["PATH"] } } as const;
        const { stdout, stderr } = spawnSync(process.execPath, [file], options);
        if (!/npm install @hivepace\/bus-nats @nats-io\/transport-node$/m.test(stdout))
          throw new Error(stdout + stderr);
      }
    },
    "an adapter of the project in the working directory": () => {
      const project = join(work, "project");
      copyWithDependencies("@hivepace/bus-nats", installed, project);
      linkClient("bus-nats", "@nats-io/transport-node", project);
      expect(["status", "--bus", "nats://127.0.0.1:1"], 1, /connection refused/, project);
      expect(["doctor", "--bus", "nats://127.0.0.1:1"], 1, /@hivepace\/bus-nats \d.*transport-node \d/, project);
    },
    simulate: () => expect(["simulate", "--agents", "3", "--only", "^30 % of the limit$"], 0, /limit ┤/),
    // The verdict itself is left to the demo's own tests, which allow for a busy machine.
    "demo, to its verdict": () => {
      const { status, all } = run(["demo", "--headless", "--duration", "10", "--no-compare"]);
      if (status === 2 || !/^Hivepace +\d/m.test(all)) throw new Error(`it ended with ${status}:\n${all}`);
    },
    "demo, its page, and Ctrl-C": () =>
      untilSeen(program, ["demo", "--duration", "60"], alone, /The page: +(\S+)/, lookAtPage),
    "demo, its metrics, and Ctrl-C": () => {
      const args = ["demo", "--duration", "60", "--headless", "--agents", "2", "--metrics", "0"];
      return untilSeen(program, args, alone, /The metrics: +(\S+)/, lookAtMetrics);
    },
  };
}

/** Copies a package and its dependencies of this workspace, and nothing else. */
function copyWithDependencies(name: string, installed: string, project: string): void {
  const target = join(project, "node_modules", name);
  cpSync(join(installed, "node_modules", name), target, { recursive: true });
  const { dependencies = {} } = JSON.parse(readFileSync(join(target, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const dependency of Object.keys(dependencies)) copyWithDependencies(dependency, installed, project);
}

/** Links a broker's client from the adapter's dependencies in this workspace. */
function linkClient(folder: string, client: string, project: string): void {
  const { path } = packages.find((one) => one.folder === folder) as Package;
  const target = join(project, "node_modules", client);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(realpathSync(join(path, "node_modules", client)), target);
}

function importsOf(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".js"));
  const all = files.flatMap(
    (file) => ts.preProcessFile(readFileSync(join(folder, file), "utf8"), true, true).importedFiles,
  );
  return [...new Set(all.map(({ fileName }) => fileName))];
}

/** Runs a program until it prints its address, checks the address, and ends the program with Ctrl-C. */
async function untilSeen(
  program: string,
  args: readonly string[],
  cwd: string,
  printed: RegExp,
  look: (address: string) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { PATH: process.env["PATH"] } });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  let output = "";
  const url = new Promise<string>((resolve, reject) => {
    const read = (text: Buffer): void => {
      output += text;
      const [, address] = printed.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void ended.then((code) => reject(new Error(`it ended with ${code} before its address was there:\n${output}`)));
  });
  try {
    await look(await url);
  } finally {
    child.kill("SIGINT");
  }
  const code = await ended;
  if (code !== 130) throw new Error(`after Ctrl-C it ended with ${code}:\n${output}`);
}

/** Checks that the page and its script are served. */
async function lookAtPage(address: string): Promise<void> {
  for (const [path, words] of [
    ["/", "<!doctype html>"],
    ["/page.js", "uPlot"],
    ["/page.css", "{"],
  ] as const) {
    const body = await (await fetch(address + path)).text();
    if (!body.includes(words)) throw new Error(`${path} is ${body.slice(0, 200)}`);
  }
}

/** Waits until the metrics of both agents are served. */
async function lookAtMetrics(address: string): Promise<void> {
  const patience = AbortSignal.timeout(60_000);
  let text = "";
  while (!["agent-1", "agent-2"].every((agentId) => text.includes(`instance="${agentId}"`))) {
    if (patience.aborted) throw new Error(`not of both agents:\n${text.slice(0, 2_000)}`);
    await pause(100);
    text = await (await fetch(address)).text();
  }
}
