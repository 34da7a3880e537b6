import { join } from "node:path";
import type { Launch } from "../process/launch.ts";
import type { Place } from "../process/place.ts";
import { natsProbe } from "../process/probe.ts";
import { debianTree } from "../provision/debian.ts";
import { composeLaunch, requireEngine } from "../provision/docker.ts";
import { which } from "../provision/which.ts";
import { writeFiles } from "./files.ts";
import type { Program, Recipe } from "./recipe.ts";

export interface NatsOptions {
  /** Text of the configuration file, for accounts, tokens, TLS. */
  readonly config?: string;
  /** Files for the server's working directory, so that the configuration can name certificates without a path. */
  readonly files?: Readonly<Record<string, string>>;
}

export const nats: Recipe<NatsOptions> = {
  kind: "nats",
  probe: natsProbe,
  startMs: 120_000,
  url: (host, port) => `nats://${host}:${port}`,
  sources: [
    { origin: "path", find: async () => program(await which("nats-server")) },
    { origin: "cache", find: fromDebian },
    { origin: "docker", find: fromDocker },
  ],
};

const CONFIG_FILE = "nats.conf";

function configArgs({ config }: NatsOptions): string[] {
  return config === undefined ? [] : ["-c", CONFIG_FILE];
}

function filesOf({ config, files }: NatsOptions): Record<string, string> {
  return config === undefined ? { ...files } : { ...files, [CONFIG_FILE]: config };
}

export function natsArgs({ port }: Place, options: NatsOptions): string[] {
  return ["-a", "127.0.0.1", "-p", `${port}`, ...configArgs(options)];
}

function program(command: string, env: Record<string, string> = {}): Program<NatsOptions> {
  return {
    detail: command,
    async launch(place, options): Promise<Launch> {
      await writeFiles(place.dir, filesOf(options));
      return { command, args: natsArgs(place, options), env, cwd: place.dir };
    },
  };
}

async function fromDebian(): Promise<Program<NatsOptions>> {
  const { root, env } = await debianTree({
    name: "nats",
    packages: ["nats-server"],
    check: ["usr/sbin/nats-server", "--version"],
  });
  return program(join(root, "usr/sbin/nats-server"), env);
}

async function fromDocker(): Promise<Program<NatsOptions>> {
  await requireEngine();
  return {
    detail: "compose.yaml",
    async launch(place, options) {
      await writeFiles(place.dir, filesOf(options));
      return composeLaunch("nats", place, { command: ["-p", "4222", ...configArgs(options)] });
    },
  };
}
