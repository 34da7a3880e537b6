import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { NotHereError } from "../errors.ts";
import { addressVariable } from "../kinds.ts";
import { exists } from "../provision/cache.ts";
import { debianTree } from "../provision/debian.ts";
import { firstFound, type Origin, type Source } from "../provision/source.ts";
import { which } from "../provision/which.ts";

/** Options for Playwright's `chromium.launch()`. */
export interface Chromium {
  readonly origin: Origin;
  readonly executablePath: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

type Browser = Pick<Chromium, "executablePath" | "env">;

// Without the sandbox, which root cannot use; all pages are local. The other arguments prevent network traffic.
const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const sources: readonly Source<Browser>[] = [
  { origin: "address", find: fromVariable },
  {
    origin: "path",
    find: async () => ({
      executablePath: await which("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
      env: {},
    }),
  },
  { origin: "cache", find: fromDebian },
];

export async function findChromium(): Promise<Chromium> {
  const { origin, value } = await firstFound("chromium", sources);
  return { origin, executablePath: value.executablePath, args: [...args], env: { ...ownEnvironment(), ...value.env } };
}

async function fromVariable(): Promise<Browser> {
  const executablePath = process.env[addressVariable.chromium];
  if (executablePath === undefined || executablePath === "") throw new NotHereError("CHROMIUM_PATH is not set");
  if (!(await exists(executablePath)))
    throw new Error(`CHROMIUM_PATH must name an existing file, got ${executablePath}`);
  return { executablePath, env: {} };
}

async function fromDebian(): Promise<Browser> {
  const { root, env } = await debianTree({
    name: "chromium",
    packages: ["chromium", "chromium-common", "fonts-dejavu-core", "fontconfig-config"],
    without: ["libllvm15", "libgl1-mesa-dri", "libz3-4", "libperl5.36", "libgtk-3-common"],
    check: ["usr/lib/chromium/chromium", "--version"],
  });
  return { executablePath: join(root, "usr/lib/chromium/chromium"), env: { ...env, ...(await fonts(dirname(root))) } };
}

/** Text needs fonts, and fontconfig finds those of the tree only by absolute paths in its configuration. */
async function fonts(folder: string): Promise<Record<string, string>> {
  const file = join(folder, "fonts.conf");
  const text = `<?xml version="1.0"?>
<fontconfig>
  <dir>${folder}/root/usr/share/fonts</dir>
  <cachedir>${folder}/cache</cachedir>
  <include ignore_missing="yes">${folder}/root/etc/fonts/conf.d</include>
</fontconfig>
`;
  // Written again when the checkout was moved; renamed into place, because another process may be reading it.
  if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    const fresh = `${file}-${randomUUID()}`;
    await writeFile(fresh, text);
    await rename(fresh, file);
  }
  return { FONTCONFIG_FILE: file };
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
