import { type OwnServer, startOwnServer } from "@hivepace/servers";
import { whyNot } from "@hivepace/servers/vitest";
import { describe, expect, test } from "vitest";
import type { DemoServer } from "../src/world.ts";
import { deepCut, play } from "./support/play.ts";

for (const kind of ["nats", "redis", "kafka"] as const) {
  const reason = whyNot(kind, { own: true });
  describe.skipIf(reason !== undefined)(reason === undefined ? kind : `skipped: ${reason}`, () => {
    test("a swarm of processes on a server of its own keeps the limit, cuts together and recovers", async () => {
      const started: OwnServer[] = [];
      const startServer = async (): Promise<DemoServer> => {
        const server = await startOwnServer(kind);
        started.push(server);
        return server;
      };
      const { code, story, figures } = await play(
        ["--bus", kind, "--duration", "12", "--agents", "5", "--rpm", "60"],
        deepCut,
        { startServer },
      );
      expect([code, story]).toEqual([0, expect.stringContaining("all 5 agents cut back")]);
      expect(figures).toMatchObject({ bus: kind, scenario: "cut", agents: 5 });
      expect(figures.recoveries).toBeGreaterThan(0);
      expect(started.map(({ pid }) => pid)).toEqual([undefined]);
    });
  });
}

describe.skipIf(whyNot("nats", { own: true }) !== undefined)("partition, with a broker", () => {
  test("the demo kills and restarts its own broker, and the agents discover each other again", async () => {
    const args = ["--bus", "nats", "--duration", "12", "--agents", "3", "--rpm", "60", "--scenario", "partition"];
    const { code, story } = await play(args, {}, { startServer: () => startOwnServer("nats") });
    expect([code, story]).toEqual([0, expect.stringContaining("The limit held")]);
    expect(story).toMatch(/the nats server is killed\n(.|\n)*started again\n(.|\n)*all 3 agents know each other/);
  });

  test("a given broker is not killed: the agents are disconnected from it", async () => {
    await using server = await startOwnServer("nats");
    const { pid } = server;
    const args = ["--bus", server.url, "--duration", "10", "--agents", "3", "--rpm", "50", "--scenario", "partition"];
    const { code, story, figures } = await play(args);
    expect([code, story]).toEqual([0, expect.stringContaining("no agent reaches the others any more")]);
    expect([figures.bus, server.pid]).toEqual([server.url, pid]);
  });
});
