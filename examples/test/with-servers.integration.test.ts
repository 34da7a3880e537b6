import { readdirSync } from "node:fs";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { expect, test } from "vitest";
import { expectedOutput, outputOf } from "./support/run-program.ts";

const folder = new URL("../src/with-servers/", import.meta.url);

describeOwnServer("nats", (nats) =>
  describeOwnServer("redis", (redis) => {
    test.each(readdirSync(folder))("%s prints the output in its last comment", async (name) => {
      const file = new URL(name, folder);
      const env = { NATS_URL: nats().url, REDIS_URL: redis().url };
      expect(await outputOf(file, env)).toBe(expectedOutput(file));
    });
  }),
);
