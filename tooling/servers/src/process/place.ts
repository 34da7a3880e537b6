import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The resources of one server: two ports on loopback and a folder that is removed with the server. */
export interface Place {
  readonly port: number;
  /** The second port, for servers that need one (Kafka's controller). */
  readonly secondPort: number;
  readonly dir: string;
}

// Below every common ephemeral range (Linux 32768, others 49152): while a server is down for a restart, no outgoing
// connection can take its port, and no reconnecting client can connect to itself.
const FIRST_PORT = 20_000;
const END_PORT = 32_000;

/**
 * Claims a place that no other process of this project uses: the folder is named after the port, and creating a folder
 * is atomic. Binding the ports checks that no other program uses them.
 */
export async function claimPlace(parent = tmpdir()): Promise<Place> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(FIRST_PORT / 2, END_PORT / 2) * 2;
    const dir = join(parent, `hivepace-server-${port}`);
    if (!(await claimFolder(dir))) continue;
    if ((await isFree(port)) && (await isFree(port + 1))) return { port, secondPort: port + 1, dir };
    await rm(dir, { recursive: true, force: true });
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${END_PORT} on loopback`);
}

// Additional ports lie below those of places, for the same reason.
const FIRST_FURTHER_PORT = 10_000;

/**
 * Claims a port on loopback for a server's second purpose, such as a Redis Cluster's bus. The claim lasts until this
 * process ends.
 */
export async function claimPort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(FIRST_FURTHER_PORT, FIRST_PORT);
    const dir = join(tmpdir(), `hivepace-port-${port}`);
    if (!(await claimFolder(dir))) continue;
    process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST_FURTHER_PORT} and ${FIRST_PORT} on loopback`);
}

async function claimFolder(dir: string): Promise<boolean> {
  try {
    await mkdir(dir, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.once("error", () => resolve(false));
    listener.listen({ port, host: "127.0.0.1", exclusive: true }, () => listener.close(() => resolve(true)));
  });
}
