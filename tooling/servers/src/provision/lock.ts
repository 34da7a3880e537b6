import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const BEAT_MS = 1_000;
const STALE_MS = 10_000;

/**
 * Runs `work` while holding `folder` as an inter-process lock, and passes it that folder to work in.
 *
 * The lock is the folder; its `owner` file is touched every second while the owner lives. A process that finds the file
 * untouched for ten seconds moves the folder away, with its contents. Liveness is by heartbeat and not by pid, because
 * pids are reused and mean nothing between containers that share a checkout.
 */
export async function withLock<T>(folder: string, work: (folder: string) => Promise<T>): Promise<T> {
  const token = randomUUID();
  const owner = join(folder, "owner");
  while (!(await claim(folder, token))) {
    await removeIfStale(folder);
    await sleep(100);
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(owner, now, now).catch(() => {});
  }, BEAT_MS);
  try {
    return await work(folder);
  } finally {
    clearInterval(beat);
    await removeWhole(folder);
  }
}

/** The folder is created with its owner file and renamed into place, so that no lock is ever seen without one. */
async function claim(folder: string, token: string): Promise<boolean> {
  const mine = `${folder}-${token}`;
  await mkdir(mine, { recursive: true });
  try {
    await writeFile(join(mine, "owner"), token);
    await rename(mine, folder);
    return true;
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    if (isTaken(error)) return false;
    throw error;
  }
}

async function removeIfStale(folder: string): Promise<void> {
  const touched = await stat(join(folder, "owner")).catch(() => undefined);
  if (touched === undefined || Date.now() - touched.mtimeMs < STALE_MS) return;
  await removeWhole(folder);
}

/**
 * Moves the folder before removing it: no process sees it half removed, and none can claim it while it is empty and
 * about to go. Of several processes that find it stale only one succeeds in moving it.
 */
async function removeWhole(folder: string): Promise<void> {
  const aside = `${folder}-gone-${randomUUID()}`;
  try {
    await rename(folder, aside);
  } catch {
    return;
  }
  await rm(aside, { recursive: true, force: true });
}

function isTaken(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOTEMPTY" || code === "EEXIST" || code === "EPERM";
}
