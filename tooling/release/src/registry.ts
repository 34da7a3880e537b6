import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { run } from "./run.ts";

/** A local registry: holds the packages published to it, and proxies all others. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** The environment that makes package managers use this registry, without any settings of this machine. */
  readonly env: Readonly<Record<string, string>>;
}

const DEADLINE_MS = 60_000;

export async function startRegistry(folder: string): Promise<Registry> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const upstream = (await run("npm", ["config", "get", "registry"], { cwd: folder })).trim();
  const ours = { access: "$all", publish: "$authenticated" };
  const config = {
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: 1 } },
    uplinks: { upstream: { url: upstream, maxage: "60m", timeout: "60s" } },
    packages: { "@hivepace/*": ours, hivepace: ours, "**": { access: "$all", proxy: "upstream" } },
    web: { enable: false },
    log: { type: "stdout", format: "pretty", level: "warn" },
  };
  // Verdaccio reads YAML, of which JSON is a subset.
  await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
  const manifest = createRequire(import.meta.url).resolve("verdaccio/package.json");
  const program = join(dirname(manifest), "bin/verdaccio");
  const child = spawn(
    process.execPath,
    [program, "--config", join(folder, "config.yaml"), "--listen", `127.0.0.1:${port}`],
    { stdio: "ignore" },
  );
  const gone = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await answers(`${url}-/ping`);
    const userconfig = join(folder, "npmrc");
    await writeFile(userconfig, `registry=${url}\n//127.0.0.1:${port}/:_authToken=${await token(url)}\n`);
    const env = { npm_config_registry: url, npm_config_userconfig: userconfig, NPM_CONFIG_USERCONFIG: userconfig };
    return { url, env, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates a user and returns its token, as `npm adduser` does. */
async function token(url: string): Promise<string> {
  const user = { name: "rehearsal", password: crypto.randomUUID() };
  const response = await fetch(`${url}-/user/org.couchdb.user:${user.name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(user),
  });
  if (!response.ok)
    throw new Error(`the registry refused to create a user: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}

async function answers(url: string): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    if (performance.now() > deadline) throw new Error(`the registry did not answer at ${url} within ${DEADLINE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
