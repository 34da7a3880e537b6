import { join } from "node:path";
import type { Launch } from "../process/launch.ts";
import type { Place } from "../process/place.ts";
import { redisProbe } from "../process/probe.ts";
import { debianTree } from "../provision/debian.ts";
import { composeLaunch, requireEngine } from "../provision/docker.ts";
import { which } from "../provision/which.ts";
import { writeFiles } from "./files.ts";
import type { Program, Recipe } from "./recipe.ts";

export interface RedisOptions {
  /** Appended to the command line: `["--requirepass", "secret"]`. */
  readonly args?: readonly string[];
  /** Files for the server's working directory, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

export const redis: Recipe<RedisOptions> = {
  kind: "redis",
  probe: redisProbe,
  startMs: 120_000,
  url: (host, port) => `redis://${host}:${port}`,
  sources: [
    { origin: "path", find: async () => program(await which("redis-server", "valkey-server")) },
    { origin: "cache", find: fromDebian },
    { origin: "docker", find: fromDocker },
  ],
};

const keepNothing = ["--save", "", "--appendonly", "no"];

export function redisArgs({ port, dir }: Place, { args = [] }: RedisOptions): string[] {
  return ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", dir, ...keepNothing, ...args];
}

function program(command: string, env: Record<string, string> = {}): Program<RedisOptions> {
  return {
    detail: command,
    async launch(place, options): Promise<Launch> {
      await writeFiles(place.dir, options.files);
      return { command, args: redisArgs(place, options), env };
    },
  };
}

async function fromDebian(): Promise<Program<RedisOptions>> {
  // redis-server is a link to redis-check-rdb of redis-tools: one binary that behaves according to its name.
  const { root, env } = await debianTree({
    name: "redis",
    packages: ["redis-server", "redis-tools"],
    without: ["libperl5.36"],
    check: ["usr/bin/redis-server", "--version"],
  });
  return program(join(root, "usr/bin/redis-server"), env);
}

async function fromDocker(): Promise<Program<RedisOptions>> {
  await requireEngine();
  return {
    detail: "compose.yaml",
    async launch(place, { args = [], files }) {
      await writeFiles(place.dir, files);
      return composeLaunch("redis", place, { command: ["redis-server", ...keepNothing, ...args] });
    },
  };
}
