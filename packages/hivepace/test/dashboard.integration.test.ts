import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describeOwnServer, describeServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { until } from "@hivepace/test-kit";
import { afterEach, expect, test } from "vitest";
import { Cli, cli } from "./support/cli.ts";
import { Swarm } from "./support/swarm.ts";

const swarms: Swarm[] = [];
const runs: Cli[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) if (run.child.exitCode === null) await run.end("SIGKILL");
  await Promise.all(swarms.splice(0).map((swarm) => swarm.close()));
});

function swarmAt(address: string): Swarm {
  const swarm = new Swarm(address);
  swarms.push(swarm);
  return swarm;
}

async function opened(args: readonly string[]): Promise<{ run: Cli; url: string }> {
  const run = new Cli(["dashboard", ...args, "--json"]);
  runs.push(run);
  await run.until(() => run.lines.length > 0, "its address");
  return { run, url: String(run.lines[0]?.["url"]) };
}

interface Seen {
  readonly title: string;
  readonly agents: { readonly agentId: string }[];
  readonly resources: { readonly resource: string }[];
}
const look = async (url: string): Promise<Seen> => (await (await fetch(`${url}/snapshot`)).json()) as Seen;

describeServer("nats", (server) => {
  const namespace = `dashboard-${process.pid}-${Date.now()}`;
  const place = () => ["--bus", server().url, "--namespace", namespace];

  test("the page and its data are served until Ctrl-C, which exits with 0", async () => {
    await swarmAt(server().url).join("agent-1", { namespace });
    const { run, url } = await opened([...place(), "--port", "0", "--title", "Ours"]);
    expect(await (await fetch(url)).text()).toContain("<!doctype html>");
    await until(async () => (await look(url)).resources.length > 0, "the resource is known");
    expect(await look(url)).toMatchObject({
      title: "Ours",
      agents: [{ agentId: "agent-1" }],
      resources: [{ resource: "eu" }],
    });
    const { code, err } = await run.end();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    await expect(fetch(url)).rejects.toThrow();
  });

  test.each([[[]], [["--json"]]])("a page reachable by others causes a warning, also with %j", async (json) => {
    const run = new Cli(["dashboard", ...place(), "--port", "0", "--host", "0.0.0.0", ...json]);
    runs.push(run);
    await run.until(() => run.out.includes("http://"), "its address");
    const { code, err } = await run.end();
    expect({ code, err }).toEqual({
      code: 0,
      err: "hivepace: everyone who can reach 0.0.0.0 sees this dashboard: there is no password\n",
    });
  });

  test("a port in use exits with 1 and a sentence; an invalid port exits with 2", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const ended = await cli(["dashboard", ...place(), "--port", String(port)]);
    taken.close();
    expect(ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^hivepace: port \d+ of 127\.0\.0\.1 is in use/m),
    });
    expect(await cli(["dashboard", ...place(), "--port", "70000"])).toMatchObject({ code: 2 });
  });

  test("the demo uses the broker at an address, and Ctrl-C ends its processes too", async () => {
    const run = new Cli(["demo", "--bus", server().url, "--headless", "--duration", "60", "--agents", "3"]);
    runs.push(run);
    await run.until(() => /3 agents started/.test(run.out), "the swarm is there");
    expect(await run.end()).toMatchObject({ code: 130, err: "" });
  });
});

describeOwnServer("redis", (server) => {
  test("counts in Redis are shown, also after an outage of Redis", async () => {
    const [swarm, namespace] = [swarmAt(server().url), "prod"];
    await swarm.join("agent-1", { namespace, sync: redisSync({ url: server().url }) });
    const { run, url } = await opened([
      "--bus",
      server().url,
      "--redis",
      server().url,
      "--namespace",
      namespace,
      "--port",
      "0",
    ]);
    const counted = async (): Promise<boolean> => /"endpoint":"eu"/.test(JSON.stringify(await look(url)));
    await until(counted, "the counts are shown");
    await server().kill();
    await until(() => /retrying every second/.test(run.err), "the outage is reported");
    await server().start();
    await until(() => /Redis answers again/.test(run.err), "the recovery is reported");
    expect((await run.end()).code).toBe(0);
  });
});
