import { describeServer } from "@hivepace/servers/vitest";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli, cli } from "./support/cli.ts";
import { Swarm } from "./support/swarm.ts";

describeServer("kafka", (server) => {
  let swarm: Swarm;
  const namespace = `cli-${process.pid}-${Date.now()}`;
  const place = () => ["--bus", `kafka://${server().url}`, "--namespace", namespace];
  beforeAll(async () => {
    swarm = new Swarm(`kafka://${server().url}`);
    await swarm.join("agent-1", { namespace });
    await swarm.join("agent-2", { namespace });
  });
  afterAll(() => swarm.close());

  test("status, doctor, announce and watch on Kafka", async () => {
    const status = await cli(["status", ...place(), "--timeout", "20s"]);
    expect(status).toMatchObject({ code: 0, out: expect.stringMatching(/^agent-2 +live/m) });
    const doctor = await cli(["doctor", ...place(), "--timeout", "20s", "--expect", "2"]);
    expect(doctor.out).toMatch(/no problems found\n$/);
    const watch = new Cli(["watch", ...place(), "--timeout", "20s", "--json"]);
    await watch.until(() => watch.lines.length > 0, "the snapshot");
    const announce = await cli(["announce", "eu", "--reason", "x", "--as", "ops", ...place(), "--timeout", "20s"]);
    expect(announce).toMatchObject({ code: 0, out: expect.stringContaining("applied") });
    await watch.until(() => watch.lines.some(({ type }) => type === "cut"), "the cut");
    expect(await watch.end()).toMatchObject({ code: 0 });
  });
});
