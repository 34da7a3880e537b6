import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimPlace, isFree } from "../src/process/place.ts";

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "hivepace-test-"));
});
afterEach(() => rm(parent, { recursive: true }));

test("a place has two ports below the ephemeral range, and a folder", async () => {
  const { port, secondPort, dir } = await claimPlace(parent);
  expect(port).toBeGreaterThanOrEqual(20_000);
  expect(secondPort).toBeLessThan(32_000);
  expect(secondPort).not.toBe(port);
  expect(existsSync(dir)).toBe(true);
});

test("concurrent claims never share a port", async () => {
  const places = await Promise.all(Array.from({ length: 400 }, () => claimPlace(parent)));
  expect(new Set(places.flatMap(({ port, secondPort }) => [port, secondPort])).size).toBe(800);
});

test("a port in use is not free", async () => {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  expect(await isFree(port)).toBe(false);
  await new Promise((resolve) => listener.close(resolve));
  expect(await isFree(port)).toBe(true);
});
