import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { describe, expect, test } from "vitest";

const here = (file: string) => fileURLToPath(new URL(`./support/${file}`, import.meta.url));

/** Runs the program to its end; kills it after a timeout. */
async function run(
  mode: string,
  url: string,
  extra: string[],
  more: string[] = [],
): Promise<{ code: unknown; output: string }> {
  const flags = ["--conditions", "@hivepace/source", "--import", "tsx", ...extra];
  const program = spawn(process.execPath, [...flags, here("open-and-close.ts"), mode, url, ...more]);
  let output = "";
  for (const stream of [program.stdout, program.stderr]) stream.on("data", (data) => (output += data));
  const timer = setTimeout(() => program.kill("SIGKILL"), 40_000);
  const [code] = await once(program, "close");
  clearTimeout(timer);
  return { code, output };
}

describeOwnServer("nats", (server) => {
  describe.each([
    ["transport-node 3", []],
    ["nats 2 alone", ["--import", here("without-transport.mjs")]],
  ])("a program exits by itself: %s", (_, extra) => {
    const nobody = "nats://127.0.0.1:1";

    test.each(["ready", "reconnecting"])("after closing a bus that was %s", async (mode) => {
      expect(await run(mode, server().url, extra)).toEqual({ code: 0, output: "closed\n" });
    });

    test.each([
      ["ready", server],
      ["reconnecting", server],
      ["connecting", () => ({ url: nobody })],
    ] as const)("with a bus that is left open: %s", async (mode, place) => {
      expect(await run(mode, place().url, extra, ["left open"])).toEqual({ code: 0, output: "closed\n" });
    });

    test.each(["connecting", "refused"])("after finding no server: %s", async (mode) => {
      expect(await run(mode, nobody, extra)).toEqual({ code: 0, output: "closed\n" });
    });
  });
});
