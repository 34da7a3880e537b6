import { expect, test } from "vitest";
import type { Program } from "../src/recipes/recipe.ts";
import type { RedisOptions } from "../src/recipes/redis.ts";
import { startProgram } from "../src/server.ts";
import { folderIsThere } from "./support/processes.ts";

const loses = 'console.error("bind: Address already in use"); process.exit(1)';
const breaks = 'console.error("bad configuration"); process.exit(1)';
const answers = (port: number): string =>
  `require("net").createServer((s) => s.on("data", () => s.write("+PONG\\r\\n"))).listen(${port}, "127.0.0.1")`;

/** A fake redis program whose behaviour is chosen at each launch. */
function programOf(script: (attempt: number, port: number) => string): { found: Found; ports: number[] } {
  const ports: number[] = [];
  const launch: Program<RedisOptions>["launch"] = async ({ port }) => {
    ports.push(port);
    return { command: process.execPath, args: ["-e", script(ports.length, port)] };
  };
  return { found: { origin: "path", value: { detail: "a script", launch }, missed: [] }, ports };
}
type Found = Parameters<typeof startProgram<"redis">>[1];

test("a server that loses its port to another program gets a new one", async () => {
  const { found, ports } = programOf((attempt, port) => (attempt === 1 ? loses : answers(port)));
  await using server = await startProgram("redis", found, {});
  expect(ports).toHaveLength(2);
  expect(server.port).toBe(ports[1]);
  expect(folderIsThere(ports[0] ?? 0)).toBe(false);
});

test("a server that fails for another reason is not retried, and leaves nothing behind", async () => {
  const { found, ports } = programOf(() => breaks);
  await expect(startProgram("redis", found, {})).rejects.toThrow(/ended before it was ready.*bad configuration/s);
  expect(ports).toHaveLength(1);
  expect(folderIsThere(ports[0] ?? 0)).toBe(false);
});

test("a missing command fails at once", async () => {
  const launch = async () => ({ command: "hivepace-no-such-command", args: [] });
  const found: Found = { origin: "path", value: { detail: "nothing", launch }, missed: [] };
  await expect(startProgram("redis", found, {})).rejects.toThrow("ENOENT");
});
