import { memoryBroker, memoryBus } from "@hivepace/bus";
import { ManualClock, seededRandom } from "@hivepace/core/testing";
import { createHive, type Hive } from "@hivepace/distributed";
import { createLimitedFetch } from "../../src/index.ts";

/** What a provider does with one request. */
export type Behaviour = "ok" | "overload" | "error" | "unauthorized" | "forbidden" | "no-model" | "spent" | Lost;
/** Ways in which no answer comes at all. */
type Lost = "reset" | "refused";

/** A request as it arrives at a provider. */
export interface Arrival {
  /** Milliseconds since the first call. */
  readonly at: number;
  readonly agent: number;
  readonly host: string;
  readonly model: string;
  readonly behaviour: Behaviour;
}

/** A day at the provider, and the calls of the agents meanwhile. */
export interface Day {
  readonly agents: number;
  readonly runMs: number;
  /** The part of the run after the last call, in which calls may still complete. */
  readonly graceMs?: number;
  readonly hosts?: readonly string[];
  /** The model of a call, by its number. */
  readonly model?: (call: number) => string;
  /** The wait that a spent quota tells. */
  readonly toldS?: number | undefined;
  /** A new function for each contender, so that both meet the same day. */
  readonly behave: () => (asked: Omit<Arrival, "behaviour">) => Behaviour;
  /** How long the provider takes to answer a call. */
  readonly latencyMs?: readonly [least: number, most: number] | undefined;
  /** Calls a second of all agents together. */
  readonly perSecond?: number;
}

export interface Outcome {
  readonly completed: number;
  readonly failed: number;
  readonly sentPerCompleted: number;
  readonly p50: number;
  readonly p99: number;
  readonly arrivals: readonly Arrival[];
}

/** Calls a second of all agents together. */
export const WANTED = 32;
const LATENCY_MS = [200, 600] as const;
const REFUSAL_MS = [10, 30] as const;

type Fetch = typeof globalThis.fetch;

/** The day with hives and the limited fetch, and with a plain SDK, in virtual time. */
export async function meet(day: Day): Promise<{ hivepace: Outcome; plain: Outcome }> {
  return { hivepace: await run(day, withHives), plain: await run(day, withPlainSdk) };
}

interface World {
  readonly day: Day;
  readonly hosts: readonly string[];
  readonly clock: ManualClock;
  /** Sends a request of an agent to the provider. */
  readonly fetchOf: (agent: number) => Fetch;
}

/** The agents' way to call, which resolves with an answer whatever its status. */
interface Contender {
  readonly call: (agent: number, body: string) => Promise<Response>;
  close(): Promise<unknown>;
}

async function run(day: Day, contend: (world: World) => Promise<Contender>): Promise<Outcome> {
  const { hosts = ["one"], agents, runMs, graceMs = 60_000, model = () => "large" } = day;
  const clock = new ManualClock({ now: 5_000 });
  const arrivals: Arrival[] = [];
  let startedAt = 0;
  const fetchOf = providerOf(day, clock, arrivals, () => clock.now() - startedAt);
  const contender = await contend({ day, hosts, clock, fetchOf });
  startedAt = clock.now();
  const latencies: number[] = [];
  let failed = 0;
  const one = async (call: number): Promise<void> => {
    const at = clock.now();
    try {
      const body = JSON.stringify({ model: model(call), messages: [{ role: "user", content: "?" }] });
      const response = await contender.call(call % agents, body);
      await response.text();
      if (response.ok) latencies.push(clock.now() - at);
      else failed++;
    } catch {
      failed++;
    }
  };
  const perSecond = day.perSecond ?? WANTED;
  const calls = (perSecond * runMs) / 1_000;
  for (let call = 0; call < calls; call++) clock.after((call * 1_000) / perSecond, () => void one(call));
  await clock.run(runMs + graceMs);
  const closed = contender.close();
  await clock.run(10_000);
  await closed;
  const sorted = latencies.sort((a, b) => a - b);
  const quantile = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN;
  const completed = sorted.length;
  const sentPerCompleted = arrivals.length / Math.max(1, completed);
  return { completed, failed, sentPerCompleted, p50: quantile(0.5), p99: quantile(0.99), arrivals };
}

function providerOf(day: Day, clock: ManualClock, arrivals: Arrival[], age: () => number): (agent: number) => Fetch {
  const behave = day.behave();
  const random = seededRandom(3);
  const send = async (agent: number, url: string, init: RequestInit): Promise<Response> => {
    const { model } = JSON.parse(String(init.body)) as { model: string };
    const asked = { at: age(), agent, host: new URL(url).hostname.split(".")[0] ?? "", model };
    const behaviour = behave(asked);
    arrivals.push({ ...asked, behaviour });
    const [least, most] = behaviour === "ok" ? (day.latencyMs ?? LATENCY_MS) : REFUSAL_MS;
    const latencyMs = least + (most - least) * random();
    await new Promise<void>((resolve) => clock.after(latencyMs, resolve));
    if (behaviour === "reset" || behaviour === "refused")
      throw Object.assign(new TypeError("fetch failed"), {
        cause: { code: behaviour === "reset" ? "ECONNRESET" : "ECONNREFUSED" },
      });
    return answerOf(behaviour, model, day.toldS);
  };
  return (agent) => ((url: string, init: RequestInit) => send(agent, url, init)) as Fetch;
}

function answerOf(behaviour: Exclude<Behaviour, Lost>, model: string, toldS: number | undefined): Response {
  const error = (status: number, code: string, message: string, headers: Record<string, string> = {}) =>
    Response.json({ error: { code, type: code, message } }, { status, headers });
  switch (behaviour) {
    case "ok":
      return Response.json({
        model,
        choices: [{ finish_reason: "stop", message: { role: "assistant", content: "yes" } }],
        usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
      });
    case "overload":
      return error(529, "overloaded_error", "Overloaded");
    case "error":
      return error(500, "api_error", "Something went wrong");
    case "unauthorized":
      return error(401, "invalid_api_key", "Incorrect API key provided");
    case "forbidden":
      return error(403, "permission_denied", "Your account has no access");
    case "no-model":
      return error(404, "model_not_found", `The model ${model} does not exist`);
    case "spent":
      return toldS === undefined
        ? error(429, "insufficient_quota", "You exceeded your current quota")
        : error(429, "rate_limit_exceeded", "Rate limit reached", { "retry-after": String(toldS) });
  }
}

const urlOf = (host: string): string => `https://${host}.example/v1`;

async function withHives({ day, hosts, clock, fetchOf }: World): Promise<Contender> {
  const broker = memoryBroker();
  const hives: Hive[] = [];
  const fetches: Fetch[] = [];
  for (let agent = 0; agent < day.agents; agent++) {
    const hive = await createHive({
      clock,
      bus: memoryBus(broker, { clock }),
      namespace: "test",
      agentId: `agent-${agent}`,
      expectedAgents: day.agents,
      endpoints: hosts.map((id) => ({ id, rpmLimit: 600_000 })),
    });
    hives.push(hive);
    fetches.push(
      createLimitedFetch(hive, {
        clock,
        random: seededRandom(agent + 1),
        endpoint: [...hosts],
        endpoints: hosts.map((id) => ({ id, baseURL: urlOf(id), apiKey: "k" })),
        fetch: fetchOf(agent),
      }),
    );
  }
  await clock.run(3_000);
  const url = chatAt(hosts[0] ?? "");
  return {
    call: (agent, body) => sdkCall(fetches[agent] as Fetch, url, body, clock, () => 0),
    close: () => Promise.all(hives.map((hive) => hive.close())),
  };
}

/** A program with two endpoints and no router uses them in turns. */
async function withPlainSdk({ hosts, clock, fetchOf }: World): Promise<Contender> {
  const random = seededRandom(4);
  let turn = 0;
  return {
    call: (agent, body) => sdkCall(fetchOf(agent), chatAt(hosts[turn++ % hosts.length] ?? ""), body, clock, random),
    close: async () => undefined,
  };
}

/** A call by OpenAI's SDK with its default retries. */
async function sdkCall(
  fetch: Fetch,
  url: string,
  body: string,
  clock: ManualClock,
  random: () => number,
): Promise<Response> {
  for (let retries = 0; ; retries++) {
    const answer: unknown = await fetch(url, post(body)).catch((error: unknown) => error);
    const isAnswer = answer instanceof Response;
    const isFailed = !isAnswer || [408, 409, 429].includes(answer.status) || answer.status >= 500;
    const isFinal = isAnswer && answer.headers.get("x-should-retry") === "false";
    if (isFailed && !isFinal && retries < 2) {
      const toldS = isAnswer ? Number(answer.headers.get("retry-after") ?? Number.NaN) : Number.NaN;
      const ms = Number.isNaN(toldS) ? 500 * 2 ** retries * (1 - 0.25 * random()) : toldS * 1_000;
      await new Promise<void>((resolve) => clock.after(ms, resolve));
    } else if (isAnswer) return answer;
    else throw answer;
  }
}

const chatAt = (host: string): string => `${urlOf(host)}/chat/completions`;

function post(body: string): RequestInit {
  return { method: "POST", headers: { authorization: "Bearer k", "content-type": "application/json" }, body };
}
