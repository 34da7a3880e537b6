import { spawn } from "node:child_process";
import { mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./until.ts";

/** The part of a server that the Sentinel needs. */
interface Watched {
  readonly pid: number | undefined;
  readonly host: string;
  readonly port: number;
}

/**
 * Starts a real Sentinel for this server: the server's binary under the other name. A shell in between kills it when
 * this process ends for any reason.
 */
export async function startSentinel(master: Watched, port: number) {
  const folder = await mkdtemp(join(tmpdir(), "hivepace-sentinel-"));
  const [program, config] = [join(folder, "redis-sentinel"), join(folder, "sentinel.conf")];
  await symlink(await readlink(`/proc/${master.pid}/exe`), program);
  // A cached server has its libraries in the cache too; its environment cannot be read, because Redis overwrites it
  // with its process title.
  const maps = await readFile(`/proc/${master.pid}/maps`, "utf8");
  const libraries = new Set([...maps.matchAll(/ (\/.*)\/[^/]+\.so\b/g)].map(([, folder]) => folder));
  const monitor = `sentinel monitor hive ${master.host} ${master.port} 1`;
  await writeFile(config, [`port ${port}`, "bind 127.0.0.1", `dir ${folder}`, monitor, ""].join("\n"));
  const script = 'LD_LIBRARY_PATH="$2" "$0" "$1" >/dev/null 2>&1 & pid=$!; cat >/dev/null; kill -9 $pid';
  const shell = spawn("sh", ["-c", script, program, config, [...libraries].join(":")], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = new Promise((resolve) => shell.once("exit", resolve));
  await until(() => answers(port), "the sentinel answers");
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

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    const end = (result: boolean) => () => {
      socket.destroy();
      resolve(result);
    };
    socket.once("data", end(true)).once("error", end(false)).once("close", end(false));
  });
}
