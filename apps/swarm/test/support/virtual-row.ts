import { memoryBroker, memoryBus } from "@hivepace/bus";
import { ManualClock, seededRandom, settlePromises } from "@hivepace/core/testing";
import { createHive, type Hive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { openai } from "../../../provider/src/openai.ts";
import { WindowLimit } from "../../../provider/src/window-limit.ts";
import { CentralBuckets, centralGatekeeper, localGatekeeper } from "../../src/agent/gatekeeper.ts";
import { sdkFetch } from "../../src/agent/sdk-fetch.ts";
import type { AgentTask } from "../../src/agent/words.ts";
import { type Call, Workers } from "../../src/agent/workers.ts";
import { callsPerSecond, LATENCY_MS } from "../../src/demand.ts";
import { sleeper } from "../../src/lapse-clock.ts";
import type { Plan } from "../../src/plan.ts";

const STEP_MS = 100;
const MEET_MS = 5_000;
const DEMAND_MS = 10_000;
const ENDPOINT = "provider";

type Send = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Runs one row of the demo in virtual time, with the same agents but without sockets, so that the speed of the machine
 * does not matter.
 */
export async function virtualRow(plan: Plan) {
  const clock = new ManualClock();
  const sleep = sleeper(clock);
  const limit = new WindowLimit("sliding", plan.windowMs, plan, true);
  const random = seededRandom(plan.seed);
  const broker = memoryBroker();
  const centrals = new CentralBuckets();
  const hives: Hive[] = [];
  let refused = 0;

  const provider: Send = async (_, { body, signal }) => {
    const { max_completion_tokens: outputTokens } = JSON.parse(String(body)) as { max_completion_tokens: number };
    const inputTokens = Math.ceil(String(body).length / 4);
    const verdict = limit.tryTake(inputTokens + outputTokens, clock.now());
    const headers = openai.limitHeaders(limit.state(clock.now()), clock.epochMs());
    await sleep(LATENCY_MS.least + (LATENCY_MS.most - LATENCY_MS.least) * random(), signal ?? undefined);
    const call = { model: "gpt-demo", isStream: false, inputTokens, outputTokens };
    if (verdict.allowed) return Response.json(openai.complete(call), { headers });
    refused++;
    const { status, body: error, headers: more } = openai.tooMany(verdict);
    return Response.json(error, { status, headers: { ...headers, ...more } });
  };

  const callOf = async (task: AgentTask): Promise<Call> => {
    const { agentId, namespace, rpm, tpm } = task;
    if (plan.pacing === "hive") {
      const endpoints = [{ id: ENDPOINT, rpmLimit: rpm, tpmLimit: tpm }];
      const hive = await createHive({ agentId, namespace, clock, bus: memoryBus(broker), endpoints });
      hives.push(hive);
      const at = [{ id: ENDPOINT, provider: "openai", baseURL: `${task.providerUrl}/v1` }];
      return createLimitedFetch(hive, {
        endpoint: ENDPOINT,
        endpoints: at,
        clock,
        random,
        fetch: provider as typeof fetch,
      });
    }
    const send = sdkFetch(random, sleep, provider);
    if (plan.pacing === "sdk") return send;
    const central = plan.pacing === "bucket" && centralGatekeeper(centrals.of(task, clock), sleep);
    const gate = central || localGatekeeper(task, clock);
    return async (url, init, tokens) => {
      await gate.acquire(tokens, init.signal);
      return send(url, init);
    };
  };

  const part = plan.pacing === "split" ? plan.margin / plan.agents : plan.margin;
  const tasks = Array.from({ length: plan.agents }, (_, i) => ({
    ...plan,
    agentId: `agent-${i + 1}`,
    namespace: "virtual",
    providerUrl: "http://provider",
    rpm: plan.rpm * part,
    tpm: plan.tpm * part,
    seed: plan.seed + 15_485_863 * (i + 1),
    callsPerSecond: callsPerSecond(plan, i, 0),
  })) as unknown as AgentTask[];

  const pass = async (ms: number, each: (at: number) => void = () => {}): Promise<void> => {
    for (let at = 0; at < ms; at += STEP_MS) {
      each(at);
      clock.advance(STEP_MS);
      await settlePromises();
    }
  };
  const opening = Promise.all(tasks.map(callOf));
  await pass(MEET_MS);
  const calls = await opening;
  const workers = tasks.map((task, i) => new Workers(task, calls[i] as Call, clock));
  const steps = plan.scenario.steps.map(({ at, windowsLater = 0, deed }) => ({
    deed,
    at: at * plan.durationMs + windowsLater * plan.windowMs,
  }));
  await pass(plan.durationMs, (at) => {
    for (let next = steps[0]; next && next.at <= at; next = steps[0]) {
      steps.shift();
      const allowed = next.deed.type === "limit" ? next.deed.part : 1;
      limit.setLimits({ rpm: plan.rpm * allowed, tpm: plan.tpm * allowed }, clock.now());
    }
    if (at % DEMAND_MS === 0)
      for (const [i, one] of workers.entries()) one.callsPerSecond = callsPerSecond(plan, i, at);
  });
  const sum = (count: "tasksFinished" | "tasksFailed" | "failed") =>
    workers.reduce((all, one) => all + one.counts[count], 0);
  const row = {
    tasksFinished: sum("tasksFinished"),
    tasksFailed: sum("tasksFailed"),
    callsFailed: sum("failed"),
    refused,
  };
  await Promise.all(workers.map((one) => one.stop()));
  const closing = Promise.all(hives.map((hive) => hive.close({ drainMs: 0 })));
  await pass(MEET_MS);
  await closing;
  return row;
}
