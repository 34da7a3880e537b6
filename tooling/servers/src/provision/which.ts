import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { NotHereError } from "../errors.ts";

/** Returns the full path of the first of these commands that is on the PATH. */
export async function which(...names: readonly string[]): Promise<string> {
  const { PATH = "" } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  for (const name of names) {
    for (const folder of folders) {
      const file = join(folder, name);
      if (await isExecutable(file)) return file;
    }
  }
  throw new NotHereError(`no ${names[0]} on the PATH`);
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
