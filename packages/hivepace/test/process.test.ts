import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, cli } from "./support/cli.ts";

test("help, version and an unknown command have the right exit code and output in a real process", async () => {
  const [help, version, wrong] = await Promise.all([cli(["--help"]), cli(["--version"]), cli(["wach"])]);
  expect(help).toMatchObject({ code: 0, err: "" });
  expect(version).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/^hivepace \d/) });
  expect(wrong).toMatchObject({ code: 2, out: "" });
  expect(wrong.err).not.toMatch(/^\s+at /m);
});

test("closing the output early ends the command silently with 0", async () => {
  const run = new Cli(["simulate", "--agents", "3", "--only", "of the limit$", "--json"]);
  await run.until(() => run.out.includes("\n"), "the first line");
  run.child.stdout?.destroy();
  expect(await run.ended).toMatchObject({ code: 0, err: "" });
});

test("Ctrl-C exits with 130 while the broker does not answer", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const connected = once(silent, "connection");
  const run = new Cli(["watch", "--bus", `nats://127.0.0.1:${port}`, "--timeout", "10m"]);
  await connected;
  expect(await run.end()).toMatchObject({ code: 130, out: "" });
  silent.close();
});

test("Ctrl-C ends a simulation in the middle of a run", async () => {
  const run = new Cli(["simulate", "--agents", "3,1000", "--only", "^30 % of the limit$", "--json"]);
  await run.until(() => run.out.includes("\n"), "the first run is over and the next has begun");
  await run.end();
  expect(run.child.signalCode).toBe("SIGINT");
  expect(run.lines).toHaveLength(1);
});

test("in another folder the command finds packages installed beside it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hivepace-cli-"));
  const { code, err } = await cli(["status", "--bus", "nats://127.0.0.1:1"], {}, folder);
  rmSync(folder, { recursive: true });
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("connection refused") });
});
