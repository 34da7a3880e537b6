import { fork } from "node:child_process";
import { once } from "node:events";
import { Anthropic } from "@anthropic-ai/sdk";
import type { Hive } from "@hivepace/distributed";
import { OpenAI } from "openai";
import { describe, expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";
import { bundledCallers } from "./support/callers.ts";
import { ANSWER, type Client, clientsOf, names, PROMPT } from "./support/clients.ts";
import { lendGate } from "./support/gate-of-parent.ts";
import { type HivesInOneTime, hivesInOneTime } from "./support/hives-in-one-time.ts";

const RPM = 40;
const ENDPOINT = { id: "provider", rpmLimit: RPM };
const MINUTE_MS = 60_000;

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** All were accepted, at their first try. */
function expectPerfect({ provider }: HivesInOneTime, calls: number): void {
  expect(provider.log.map(({ status, retryCount }) => [status, retryCount])).toEqual(times(calls, () => [200, 0]));
  expect(provider.largestWindow().requests).toBeLessThanOrEqual(RPM);
}

describe.each(names)("%s", (name) => {
  test("fifty calls at once through a hive stay within the limit; none fails, none is sent twice", async () => {
    await using world = await hivesInOneTime({ rpm: RPM });
    const { clock, provider } = world;
    const [gate] = (await world.start(1, { endpoints: [ENDPOINT] })) as [Hive];
    const { ask } = clientsOf({ gate, url: provider.url, clock }).find((one) => one.name === name) as Client;
    const answers = await world.whilePassing(50, Promise.all(times(50, () => ask())));
    expect(new Set(answers)).toEqual(new Set([ANSWER]));
    expectPerfect(world, 50);
  });
});

test("25 calls of each of four hives stay within the one limit and use it", async () => {
  await using world = await hivesInOneTime({ rpm: RPM });
  const { clock, provider } = world;
  const hives = await world.start(4, { endpoints: [ENDPOINT] });
  const asks = hives.map((gate) => (clientsOf({ gate, url: provider.url, clock })[0] as Client).ask);
  const startedAt = clock.now();
  await world.whilePassing(100, Promise.all(asks.flatMap((ask) => times(25, () => ask()))));
  expectPerfect(world, 100);
  // Two and a half times the limit: the usage in the answers must not be taken for external usage.
  expect(clock.now() - startedAt).toBeLessThan(2.5 * MINUTE_MS);
});

test("25 calls of each of four processes, each with a hive of its own, stay within the one limit", async () => {
  const program = await bundledCallers("callers");
  await using world = await hivesInOneTime({ rpm: RPM });
  const { provider } = world;
  const hives = await world.start(4, { endpoints: [ENDPOINT] });
  const run = async (hive: Hive, i: number): Promise<unknown> => {
    const child = fork(program, [i % 2 === 0 ? "openai" : "anthropic", hive.agentId, provider.url, "25"], {
      execArgv: ["--no-warnings"],
    });
    lendGate(child, hive);
    // The last message of a child may arrive after its exit.
    const [[code]] = await Promise.all([once(child, "exit"), once(child, "disconnect")]);
    return code;
  };
  expect(await world.whilePassing(100, Promise.all(hives.map(run)))).toEqual([0, 0, 0, 0]);
  expectPerfect(world, 100);
  for (const { agentId } of hives) expect(provider.log.filter(({ agent }) => agent === agentId)).toHaveLength(25);
});

describe("learning", () => {
  /** An SDK on a hive without configured limits. */
  async function untold(world: HivesInOneTime, sdk: string, endpoint: object = {}, options: object = {}) {
    const { clock, provider } = world;
    const [hive] = (await world.start(1, { endpoints: [{ id: "provider", ...endpoint }], ...options })) as [Hive];
    const baseURL = `${provider.url}/v1`;
    const fetch = createLimitedFetch(hive, { clock, endpoints: [{ id: "provider", provider: sdk, baseURL }] });
    const messages = [{ role: "user" as const, content: PROMPT }];
    const openai = new OpenAI({ apiKey: "k", baseURL, fetch });
    const anthropic = new Anthropic({ apiKey: "k", baseURL: provider.url, fetch });
    const ask = (): Promise<unknown> =>
      sdk === "openai"
        ? openai.chat.completions.create({ model: "gpt-x", messages })
        : anthropic.messages.create({ model: "claude-x", max_tokens: 64, messages });
    /** Another client of the same account, without a hive. */
    const stranger = async (calls: number): Promise<void> => {
      const body = JSON.stringify({ model: "gpt-x", messages });
      for (let i = 0; i < calls; i++) await globalThis.fetch(`${baseURL}/chat/completions`, { method: "POST", body });
    };
    return { hive, ask, stranger };
  }

  test.each(["openai", "anthropic"])(
    "%s: an unconfigured limit is learned from the first answer, and enforced",
    async (sdk) => {
      await using world = await hivesInOneTime({ rpm: RPM, tpm: 100_000 });
      const { hive, ask } = await untold(world, sdk);
      const model = sdk === "openai" ? "gpt-x" : "claude-x";
      expect(hive.explain("provider", model).limits).toEqual([]);
      await world.whilePassing(1, ask());
      expect(hive.explain("provider", "another-model").limits).toEqual([]);
      expect(hive.explain("provider", model).limits).toMatchObject([
        { dimension: "requests", limit: RPM, isLearned: true, used: 1 },
        { dimension: "tokens", limit: 100_000, isLearned: true },
      ]);
      await world.whilePassing(100, Promise.all(times(100, ask)));
      expectPerfect(world, 101);
    },
  );

  test("calls that were under way before the first answer are counted, too", async () => {
    const rpm = 200;
    await using world = await hivesInOneTime({ rpm });
    const { ask } = await untold(world, "anthropic");
    await world.whilePassing(6, Promise.all(times(6, ask)));
    await world.whilePassing(250, Promise.all(times(250, ask)));
    expect(world.provider.log.filter(({ accepted }) => !accepted)).toEqual([]);
  });

  test("headers that show less than expected lower the available capacity: another program uses the account", async () => {
    await using world = await hivesInOneTime({ rpm: RPM });
    const { hive, ask, stranger } = await untold(world, "anthropic", { rpmLimit: RPM });
    await stranger(25);
    world.foreign(25);
    await world.whilePassing(1, ask());
    expect(hive.explain("provider").limits[0]).toMatchObject({ used: 26, usedHere: 1 });
    await world.whilePassing(30, Promise.all(times(30, ask)));
    expect(world.provider.log.filter(({ accepted }) => !accepted)).toEqual([]);
    expect(world.provider.largestWindow().requests).toBeLessThanOrEqual(RPM);
  });

  test("headers that show free capacity end a recovery in steps early, and not at once", async () => {
    await using world = await hivesInOneTime({ rpm: RPM });
    const { hive, ask } = await untold(world, "anthropic", { rpmLimit: RPM }, { recovery: "stepped" });
    world.provider.failNext("rate-limited");
    await world.whilePassing(1, ask());
    // The call was refused, the refusal was announced, and the call was sent again at once.
    expect(hive.explain("provider")).toMatchObject({ level: 0.5, cause: { reason: "429 rate_limited" } });
    await world.clock.run(6_000);
    expect(hive.explain("provider").level).toBe(0.5);
    await world.whilePassing(1, ask());
    expect(hive.explain("provider").level).toBe(1);
  });
});
