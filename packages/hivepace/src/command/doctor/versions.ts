import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileFrom } from "@hivepace/open-bus";
import { type RuntimeVersions, runtimeOf } from "../runtime.ts";
import { version } from "../version.ts";
import type { Findings } from "./findings.ts";

/** The oldest supported version of Node: major and minor. */
const LEAST_NODE = [20, 19] as const;
const here = dirname(fileURLToPath(import.meta.url));

/** Checks the runtime. Bun and Deno must provide the interfaces of a supported version of Node too. */
export function checkRuntime(findings: Findings, versions: RuntimeVersions): void {
  const [major = 0, minor = 0] = versions.node.split(".").map(Number);
  const runtime = runtimeOf(versions);
  const text = `${runtime.name} ${runtime.version}, hivepace ${version()}`;
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) findings.ok("versions", text);
  else findings.bad("versions", text, `install Node ${LEAST_NODE.join(".")} or newer`);
}

/** Checks that a package of Hivepace has the version of this one, because all are released together. */
export function checkPackage(findings: Findings, name: string, client: string): void {
  const [found, own, beside] = [versionOf(name), version(), versionOf(client)];
  const text = `${name} ${found ?? "of an unknown version"}${beside === undefined ? "" : `, ${client} ${beside}`}`;
  if (found === undefined || found === own) findings.ok("adapter", text);
  else findings.note("adapter", text, `hivepace is ${own}: npm install ${name}@${own}`);
}

/** Returns the version of a package resolved from beside this program or from the working directory. */
export function versionOf(name: string, folders: readonly string[] = [here, process.cwd()]): string | undefined {
  for (const folder of folders) {
    const file = manifestFrom(folder, name);
    if (file !== undefined) return (JSON.parse(readFileSync(file, "utf8")) as { version?: string }).version;
  }
  return undefined;
}

/** Finds the manifest of a package. If the package does not export it, the manifest is in a folder above its code. */
function manifestFrom(folder: string, name: string): string | undefined {
  const direct = fileFrom(folder, `${name}/package.json`);
  if (direct !== undefined) return direct;
  let at = fileFrom(folder, name);
  while (at !== undefined && at !== dirname(at)) {
    at = dirname(at);
    const file = join(at, "package.json");
    if (existsSync(file) && (JSON.parse(readFileSync(file, "utf8")) as { name?: string }).name === name) return file;
  }
  return undefined;
}
