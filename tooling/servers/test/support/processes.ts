import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function folderIsThere(port: number): boolean {
  return existsSync(join(tmpdir(), `hivepace-server-${port}`));
}
