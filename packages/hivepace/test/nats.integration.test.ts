import { CAPACITY_SUBJECT } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, until } from "@hivepace/test-kit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Cli, cli } from "./support/cli.ts";
import { EU, Swarm } from "./support/swarm.ts";

const SECRET = "a secret that is long enough";
const config = `authorization { users = [
  { user: agent, password: pw }
  { user: deaf, password: pw, permissions: { subscribe: { deny: ["prod.ratelimit.presence"] } } }
  { user: mute, password: pw, permissions: { publish: { deny: ["prod.ratelimit.capacity"] } } }
] }`;

describeOwnServer(
  "nats",
  (server) => {
    const address = (user = "agent", password = "pw") => server().url.replace("//", `//${user}:${password}@`);
    const prod = (user?: string) => ["--bus", address(user), "--namespace", "prod"];
    let swarm: Swarm;
    beforeEach(() => {
      swarm = new Swarm(address());
    });
    afterEach(() => swarm.close());

    test("status prints every limit and every agent, as text and as JSON, without the password", async () => {
      await swarm.join("agent-1");
      await swarm.join("agent-2");
      const [text, json] = await Promise.all([cli(["status", ...prod()]), cli(["status", ...prod(), "--json"])]);
      expect(text).toMatchObject({ code: 0, out: expect.stringMatching(/^eu +600 +requests in 1 min +600 +2 /m) });
      expect(text.out).toMatch(/^namespace "prod", from --namespace$/m);
      expect(text.out).toMatch(/^agent-2 +live/m);
      expect(text.out).toMatch(/^RESOURCE +AGENT +USED +SHARE +QUEUE +OF/m);
      expect(text.out).toMatch(/^ +agent-2 +500 +30,000 +0 +tokens in 1 min$/m);
      expect(text.out + json.out).not.toMatch(/∞|Infinity|1e12|1000000000000/);
      expect(text.out + text.err).not.toContain("pw@");
      expect(json).toMatchObject({ code: 0, err: "" });
      const { swarm: seen, heard, store } = JSON.parse(json.out);
      expect({ heard, store }).toEqual({ heard: true, store: null });
      expect(seen.agents.map(({ agentId }: { agentId: string }) => agentId)).toEqual(["agent-1", "agent-2"]);
      expect(seen.resources[0]).toMatchObject({
        resource: "eu",
        level: 1,
        limits: [{ limit: 600, used: 2 }, { used: 1_000 }],
      });
    });

    test("status exits with 1 and advice when the namespace has no agents", async () => {
      await swarm.join("agent-1");
      const { code, out } = await cli(["status", "--bus", address(), "--namespace", "other", "--listen", "500"]);
      expect(code).toBe(1);
      expect(out).toMatch(/no agent was heard[\s\S]*namespace[\s\S]*doctor/);
    });

    test("status takes the address from the environment, and resolves the namespace as agents do", async () => {
      await swarm.join("agent-1");
      const { code, out } = await cli(["status"], { HIVEPACE_BUS: address(), HIVEPACE_ENVIRONMENT: "prod" });
      expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("from HIVEPACE_ENVIRONMENT") });
    });

    test("watch prints joins, cuts with their reasons and departures, and Ctrl-C exits with 0", async () => {
      const run = new Cli(["watch", ...prod(), "--listen", "300", "--json"]);
      await run.until(() => run.lines[0]?.["type"] === "snapshot", "the snapshot");
      const hive = await swarm.join("agent-1");
      const types = () => run.lines.map(({ type }) => type);
      await run.until(() => types().includes("joined"), "the agent has joined");
      (await hive.acquire({ endpoint: "eu", tokens: 1 })).refused({ reason: "429 from the provider" });
      await run.until(() => types().includes("cut"), "the cut");
      await swarm.close();
      await run.until(() => types().includes("left"), "the agent has left");
      const { code, err } = await run.end();
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const cut = run.lines.find(({ type }) => type === "cut");
      expect(cut).toMatchObject({
        resource: "eu",
        agentId: "agent-1",
        reason: "429 from the provider",
        newCapacity: 300,
      });
      expect(String(cut?.["time"])).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    });

    test("watch prints the present state and then events, including an outage of the broker", async () => {
      await swarm.join("agent-1");
      const run = new Cli(["watch", ...prod()]);
      await run.until(() => /^agent-1 +live/m.test(run.out), "the table");
      await server().kill();
      await run.until(() => run.out.includes("bus interrupted"), "the broker is away");
      await server().start();
      await run.until(() => run.out.includes("bus ready"), "the broker is back");
      expect(await run.end("SIGTERM")).toMatchObject({ code: 0 });
    });

    test("watch ends after --for, with 1 when no agent was heard; a closed pipe ends it with 0", async () => {
      const nobody = await cli([
        "watch",
        "--bus",
        address(),
        "--namespace",
        "other",
        "--listen",
        "200",
        "--for",
        "300",
      ]);
      expect(nobody).toMatchObject({ code: 1, out: expect.stringContaining("no agent was heard so far") });
      await swarm.join("agent-1");
      expect(await cli(["watch", ...prod(), "--for", "2s"])).toMatchObject({ code: 0 });
      const piped = new Cli(["watch", ...prod(), "--listen", "200", "--json"]);
      await piped.until(() => piped.lines.length > 0, "the snapshot");
      piped.child.stdout?.destroy();
      await swarm.join("agent-2");
      expect(await piped.ended).toMatchObject({ code: 0, err: "" });
    });

    test("announce is applied once by all agents; a second one too soon is ignored with an explanation", async () => {
      const hive = await swarm.join("agent-1");
      await swarm.join("agent-2");
      const first = await cli(["announce", "eu", "--reason", "maintenance", "--as", "ops", ...prod()]);
      expect(first).toMatchObject({ code: 0, out: "applied: all agents together may now use 300 of eu, 50 %\n" });
      expect(hive.explain("eu")).toMatchObject({ level: 0.5, cause: { agentId: "ops", reason: "maintenance" } });
      const again = await cli(["announce", "eu", "--reason", "more", "--capacity", "100", "--json", ...prod()]);
      expect(again.code).toBe(1);
      expect(JSON.parse(again.out)).toMatchObject({
        taken: false,
        newCapacity: 100,
        outcome: expect.stringContaining("ops cut it"),
      });
      expect(hive.explain("eu").level).toBe(0.5);
      const higher = await cli(["announce", "eu", "--reason", "more", "--capacity", "900", ...prod()]);
      expect(higher).toMatchObject({ code: 1, out: expect.stringContaining("not below the 300") });
    });

    test("announce does not mistake another agent's cut for its own", async () => {
      const hive = await swarm.join("agent-1");
      const run = new Cli(["announce", "eu", "--reason", "x", "--capacity", "900", ...prod()]);
      await run.until(() => run.err.includes("announcing 900"), "the announcement");
      (await hive.acquire({ endpoint: "eu", tokens: 1 })).refused({ reason: "429 from the provider" });
      expect(await run.ended).toMatchObject({ code: 1, out: expect.stringContaining("not below the 600") });
    });

    test("park closes an endpoint, or one model of it, for all agents, and unpark opens it", async () => {
      const hives = [await swarm.join("agent-1"), await swarm.join("agent-2")];
      const states = (model?: string) => hives.map((hive) => hive.explain("eu", model).availability.state);
      const parked = await cli(["park", "eu", "--for", "30s", "--reason", "maintenance", "--as", "ops", ...prod()]);
      expect(parked).toMatchObject({ code: 0, out: expect.stringContaining("eu") });
      await until(() => states().every((state) => state === "parked"), "all agents have parked it");
      expect(hives[0]?.explain("eu").availability).toMatchObject({ agentId: "ops", reason: "maintenance" });
      expect(hives[1]?.tryAcquire({ endpoint: "eu", tokens: 1 })).toMatchObject({ reason: "unavailable" });
      expect(await cli(["unpark", "eu", ...prod()])).toMatchObject({ code: 0 });
      await until(() => states().every((state) => state === "available"), "all agents have opened it");
      expect(await cli(["park", "eu", "--model", "big", "--reason", "quota", ...prod()])).toMatchObject({ code: 0 });
      await until(() => states("big").every((state) => state === "parked"), "all agents have parked the model");
      expect(states("small")).toEqual(["available", "available"]);
      expect(await cli(["unpark", "eu", ...prod()])).toMatchObject({ code: 0 });
      await until(() => states("big").every((state) => state === "available"), "all agents have opened the model");
    });

    test("park exits with 1 when no agent is there to apply it", async () => {
      expect(await cli(["park", "eu", "--reason", "maintenance", ...prod()])).toMatchObject({ code: 1 });
    });

    test("announce of an unknown resource needs a capacity, and is not applied", async () => {
      await swarm.join("agent-1");
      const [half, given] = await Promise.all([
        cli(["announce", "us", "--reason", "x", ...prod()]),
        cli(["announce", "us", "--reason", "x", "--capacity", "5", ...prod()]),
      ]);
      expect(half).toMatchObject({ code: 1, out: expect.stringContaining("agents use eu") });
      expect(given).toMatchObject({ code: 1, out: expect.stringContaining("configured") });
    });

    test("announce to a swarm that signs needs its secret", async () => {
      const hive = await swarm.join("agent-1", { secret: SECRET });
      const args = ["announce", "eu", "--reason", "x", "--capacity", "60", ...prod(), "--listen", "1500"];
      expect(await cli(args)).toMatchObject({ code: 1 });
      expect(hive.explain("eu").level).toBe(1);
      expect(await cli(args, { HIVEPACE_SECRET: SECRET })).toMatchObject({ code: 0 });
      expect(hive.explain("eu").level).toBe(0.1);
      const short = await cli(args, { HIVEPACE_SECRET: "short" });
      expect(short).toMatchObject({ code: 2, err: expect.stringMatching(/HIVEPACE_SECRET must be(?!.*short")/) });
    });

    const doctor = async (args: readonly string[], env?: Record<string, string>) => {
      const { code, out } = await cli(["doctor", "--listen", "1500", "--json", ...args], env);
      const { checks } = JSON.parse(out) as {
        checks: { check: string; state: string; text: string; advice: string }[];
      };
      return { code, checks, wrong: checks.filter(({ state }) => state === "wrong") };
    };

    test("doctor finds no problem in a working swarm and does not affect its agents", async () => {
      const hive = await swarm.join("agent-1");
      await swarm.join("agent-2");
      const { code, checks, wrong } = await doctor([...prod(), "--expect", "2"]);
      expect({ code, wrong }).toEqual({ code: 0, wrong: [] });
      expect(checks.map(({ check }) => check)).toEqual(
        expect.arrayContaining([
          "versions",
          "namespace",
          "address",
          "adapter",
          "broker",
          "echo",
          "agents",
          "messages",
          "limits",
        ]),
      );
      expect(hive.explain("eu").level).toBe(1);
      const text = await cli(["doctor", "--listen", "1500", ...prod()]);
      expect(text.out).toMatch(/^✓ echo +prod\.ratelimit\.capacity: round trip/m);
      expect(text.out).toMatch(/no problems found\n$/);
    });

    test.each([
      ["a wrong port", () => ["--bus", "nats://127.0.0.1:1"], "broker", /nothing listens/],
      ["a wrong password", () => ["--bus", address("agent", "no")], "broker", /user and the password/],
      ["no right to hear", () => prod("deaf"), "hear", /subscribe to prod\.ratelimit\.presence/],
      ["no right to speak", () => prod("mute"), "speak", /publish to prod\.ratelimit\.capacity/],
      ["another namespace", () => ["--bus", address(), "--namespace", "other"], "agents", /in this namespace/],
    ])("doctor finds %s, gives advice and exits with 1", async (_, args, check, advice) => {
      await swarm.join("agent-1");
      const { code, wrong } = await doctor(args());
      expect(code).toBe(1);
      expect(wrong).toMatchObject([{ check, advice: expect.stringMatching(advice) }]);
    });

    test("doctor finds similar endpoint ids of different agents", async () => {
      await swarm.join("agent-1", { endpoints: [{ ...EU, id: "openai" }] });
      await swarm.join("agent-2", { endpoints: [{ ...EU, id: "open-ai" }] });
      const { code, wrong } = await doctor(prod());
      expect(code).toBe(1);
      expect(wrong).toMatchObject([
        { check: "endpoints", text: expect.stringMatching(/(openai at agent-1|open-ai at agent-2); /) },
      ]);
    });

    test("doctor finds agents that disagree, other publishers, and another secret", async () => {
      await swarm.join("agent-1");
      await swarm.join("agent-2", { endpoints: [{ ...EU, rpmLimit: 500 }] });
      const { wrong } = await doctor(prod());
      expect(wrong).toMatchObject([{ check: "limits", text: expect.stringMatching(/500\/60000 in 1 min at agent-2/) }]);
      const signed = await doctor(prod(), { HIVEPACE_SECRET: SECRET });
      expect(signed.wrong).toContainEqual(
        expect.objectContaining({ text: expect.stringMatching(/ignored: unsigned/) }),
      );
      const bus = await openBus(address());
      const run = new Cli(["doctor", "--listen", "3s", ...prod(), "--json"]);
      // Publishes an invalid message, and an announcement from a clock that is an hour ahead.
      const timestamp = new Date(Date.now() + 3_600_000).toISOString();
      const ahead = { resource: "nobody's", agent_id: "go", new_capacity: 5, reason: "r", timestamp };
      await until(async () => {
        await bus.publish(`prod.${CAPACITY_SUBJECT}`, bytes("no JSON"));
        await bus.publish(`prod.${CAPACITY_SUBJECT}`, bytes(JSON.stringify(ahead)));
        return run.child.exitCode !== null;
      }, "the doctor is done");
      await bus.close();
      const { checks } = JSON.parse((await run.ended).out) as { checks: { text: string; state: string }[] };
      expect(checks).toContainEqual(
        expect.objectContaining({ state: "wrong", text: expect.stringContaining("no JSON") }),
      );
      expect(checks).toContainEqual(
        expect.objectContaining({ state: "note", text: expect.stringMatching(/(1 h|60 min) ahead of/) }),
      );
    });
  },
  { config },
);
