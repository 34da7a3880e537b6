import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export async function writeFiles(dir: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(dir, name), text)));
}
