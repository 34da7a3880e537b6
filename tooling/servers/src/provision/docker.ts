// Runs only where a Docker engine is available; elsewhere the commands are tested as values.

import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NotHereError } from "../errors.ts";
import type { ServerKind } from "../kinds.ts";
import type { Command, ControlSignal, Launch } from "../process/launch.ts";
import type { Place } from "../process/place.ts";
import { run } from "./run.ts";
import { which } from "./which.ts";

const composeFile = fileURLToPath(new URL("../../../../compose.yaml", import.meta.url));
const FOLDER_INSIDE = "/hivepace";

/** Requires an engine that answers in time, not only a Docker client. */
export async function requireEngine(): Promise<void> {
  const docker = await which("docker");
  try {
    await run(docker, ["info"], { timeoutMs: 5_000 });
    await run(docker, ["compose", "version"], { timeoutMs: 5_000 });
  } catch {
    throw new NotHereError("no Docker engine with compose answers");
  }
}

export interface ServiceChanges {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs one service of compose.yaml in a separate project, on the port of its place. */
export async function composeLaunch(kind: ServerKind, place: Place, changes: ServiceChanges): Promise<Launch> {
  const hasFiles = (await readdir(place.dir)).length > 0;
  const override = join(place.dir, "compose.override.json");
  await writeFile(override, JSON.stringify({ services: { [kind]: composeService(place, changes, hasFiles) } }));
  return composeCommands(kind, place, override);
}

export function composeService(place: Place, changes: ServiceChanges, hasFiles: boolean): object {
  if (!hasFiles) return changes;
  return { ...changes, volumes: [`${place.dir}:${FOLDER_INSIDE}:ro`], working_dir: FOLDER_INSIDE };
}

export function composeCommands(kind: ServerKind, { port }: Place, override: string): Launch {
  const base = ["compose", "-f", composeFile, "-f", override, "-p", `hivepace-${kind}-${port}`];
  const env = { [`${kind.toUpperCase()}_PORT`]: `${port}` };
  const compose = (...args: string[]): Command => ({ command: "docker", args: [...base, ...args], env });
  const signals: Record<ControlSignal, Command> = {
    SIGTERM: compose("stop", kind),
    SIGKILL: compose("kill", kind),
    SIGSTOP: compose("pause", kind),
    SIGCONT: compose("unpause", kind),
  };
  // In the foreground, so that the end of the container ends the process. After the owner's death the container runs on
  // until the guard has taken the project down.
  return { ...compose("up", "--no-color", kind), signals, cleanup: compose("down", "--volumes", "--timeout", "0") };
}
