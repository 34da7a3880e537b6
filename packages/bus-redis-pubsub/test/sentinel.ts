import { spawn } from "node:child_process";
import { mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OwnServer } from "@hivepace/servers";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";

/**
 * A real Sentinel that watches this server: the same binary under the other name. A shell stands between, which ends it
 * when we are gone, however that happens.
 */
export async function startSentinel(master: OwnServer, port: number) {
  const folder = await mkdtemp(join(tmpdir(), "hivepace-sentinel-"));
  const [program, config] = [join(folder, "redis-sentinel"), join(folder, "sentinel.conf")];
  await symlink(await readlink(`/proc/${master.pid}/exe`), program);
  // A server from the cache has its libraries there too, and overwrites its environment with its title.
  const maps = await readFile(`/proc/${master.pid}/maps`, "utf8");
  const libraries = new Set([...maps.matchAll(/ (\/.*)\/[^/]+\.so\b/g)].map(([, folder]) => folder));
  const monitor = `sentinel monitor hive ${master.host} ${master.port} 1`;
  await writeFile(config, [`port ${port}`, "bind 127.0.0.1", `dir ${folder}`, monitor, ""].join("\n"));
  const script = 'LD_LIBRARY_PATH="$2" "$0" "$1" >/dev/null 2>&1 & pid=$!; cat >/dev/null; kill -9 $pid';
  const shell = spawn("sh", ["-c", script, program, config, [...libraries].join(":")], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = new Promise((resolve) => shell.once("exit", resolve));
  const probe = new Redis(port, "127.0.0.1");
  probe.on("error", () => {});
  await until(() => probe.ping().then(Boolean, () => false), "the sentinel answers");
  probe.disconnect();
  return {
    host: "127.0.0.1",
    port,
    async stop(): Promise<void> {
      shell.stdin.end();
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
