import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cached } from "../src/provision/cache.ts";
import { withLock } from "../src/provision/lock.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "hivepace-test-"));
});
afterEach(() => rm(root, { recursive: true }));

test("a folder is built once, also with concurrent callers", async () => {
  let builds = 0;
  const build = async (folder: string): Promise<void> => {
    builds++;
    await writeFile(join(folder, "file"), "whole");
  };
  const folders = await Promise.all(Array.from({ length: 5 }, () => cached("thing", { a: 1 }, build, root)));
  expect(builds).toBe(1);
  expect(new Set(folders).size).toBe(1);
  expect(await readFile(join(folders[0] ?? "", "file"), "utf8")).toBe("whole");
  expect(await readdir(root)).toHaveLength(1);
});

test("another recipe is another folder", async () => {
  const build = async (): Promise<void> => {};
  expect(await cached("thing", { a: 1 }, build, root)).not.toBe(await cached("thing", { a: 2 }, build, root));
});

test("a build that fails leaves nothing behind, and the next one builds again", async () => {
  const failing = cached(
    "thing",
    {},
    async (folder) => {
      await writeFile(join(folder, "half"), "");
      throw new Error("no network");
    },
    root,
  );
  await expect(failing).rejects.toThrow("no network");
  expect(await readdir(root)).toEqual([]);
  const folder = await cached("thing", {}, (work) => writeFile(join(work, "whole"), ""), root);
  expect(await readdir(folder)).toEqual(["whole"]);
});

test("a lock is held by one at a time", async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(join(root, "lock"), work)));
  expect(most).toBe(1);
});

test("a lock whose owner has died is taken over, without its leftovers", async () => {
  const lock = join(root, "lock");
  await mkdir(join(lock, "work"), { recursive: true });
  await writeFile(join(lock, "owner"), "dead");
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(join(lock, "owner"), longAgo, longAgo);
  expect(await withLock(lock, async (folder) => existsSync(join(folder, "work")))).toBe(false);
});
