import type { MessageBus } from "@hivepace/bus";
import { messageOf } from "@hivepace/core/internal";
import { observeSwarm } from "@hivepace/distributed";
import { busAdapters, isMissing, loadAdapter, openBus, parseBusAddress, shownAddress } from "@hivepace/open-bus";
import { abortable } from "../abortable.ts";
import { connectAdvice } from "../doctor/advice.ts";
import { namespacesElsewhere } from "../doctor/elsewhere.ts";
import { Findings } from "../doctor/findings.ts";
import { checkRedis } from "../doctor/redis-check.ts";
import { checkSubjects } from "../doctor/subject-check.ts";
import { surveyOf } from "../doctor/survey.ts";
import { checkAgents, checkIgnored, checkSurvey, checkTimestamps } from "../doctor/swarm-check.ts";
import { checkPackage, checkRuntime } from "../doctor/versions.ts";
import { helpText } from "../help.ts";
import { parseOptions } from "../options.ts";
import { redisUrl } from "../redis/open-redis.ts";
import {
  commonOptions,
  SECRET_NOTE,
  type SwarmSettings,
  shownNamespace,
  swarmOptions,
  swarmSettings,
} from "../settings.ts";
import { LONG_MS, listen } from "../swarm/listen.ts";
import { parseDuration, showDuration } from "../text/duration.ts";
import { jsonLine } from "../text/json.ts";
import { paintFor } from "../text/paint.ts";
import { type Progress, progressFor } from "../text/progress.ts";
import { refuse, UsageError } from "../usage-error.ts";
import { EXIT, type World } from "../world.ts";

export const options = {
  ...swarmOptions,
  redis: { value: "<url>", about: "the Redis of the shared counts: redis://host:port. Default: HIVEPACE_REDIS" },
  expect: { value: "<n>", about: "the number of agents that should run; 0 before the first one starts. Default: 1" },
  listen: { value: "<duration>", about: "how long to listen for agents. Default: 6s" },
  ...commonOptions,
} as const;

export const help = helpText({
  name: "doctor",
  about: "Checks everything that a swarm needs, step by step, and reports problems with their fixes",
  options,
  more: `The doctor checks the address, the adapter, the broker, the rights on both subjects of the namespace, the agents, and whether they agree on limits and on the ids of endpoints; of Redis the version, memory policy, clock and rights. It publishes two messages that agents ignore (and count as ignored), and leaves one key in Redis for some seconds.
${SECRET_NOTE}
Exits with 1 when something is wrong (✗); notes (!) do not affect the exit code.`,
  examples: ["hivepace doctor --bus nats://localhost:4222 --redis redis://localhost --namespace prod --expect 8"],
});

export async function run(args: readonly string[], world: World): Promise<number> {
  const { values } = parseOptions(options, args);
  const settings = swarmSettings(values, world);
  const url = redisUrl(values.redis, settings.namespace, world);
  const expect = values.expect === undefined ? 1 : expectOf(values.expect);
  const listenMs = values.listen === undefined ? LONG_MS : parseDuration("--listen", values.listen);
  const { bus, json, namespace, timeoutMs } = settings;
  if (bus === undefined && url === undefined)
    throw new UsageError("nothing to check: pass --bus nats://host:port, --redis redis://host:port or both");

  const findings = new Findings(json ? undefined : world.stdout, paintFor(world.stdout, world));
  checkRuntime(findings, process.versions);
  checkNamespace(findings, settings);
  const progress = progressFor(world, json);
  if (bus !== undefined) await checkBus(findings, { settings, bus, expect, listenMs, progress }, world);
  if (url !== undefined)
    await checkRedis(findings, { url, namespace: namespace.namespace, timeoutMs, signal: world.signal });

  const { wrong } = findings;
  if (json) world.stdout.write(jsonLine({ ok: wrong === 0, wrong, namespace, checks: findings.all }));
  else
    world.stdout.write(
      `\n${wrong === 0 ? "no problems found" : wrong === 1 ? "1 problem found" : `${wrong} problems found`}\n`,
    );
  return wrong === 0 ? EXIT.fine : EXIT.trouble;
}

function checkNamespace(findings: Findings, { namespace }: SwarmSettings): void {
  const text = shownNamespace(namespace);
  if (namespace.source === "default")
    findings.note("namespace", text, "set HIVEPACE_ENVIRONMENT for agents and here, so that environments stay apart");
  else if (namespace.source === "test run")
    findings.note(
      "namespace",
      text,
      "this is a test run (NODE_ENV=test, or a test runner) with a namespace of its own",
    );
  else findings.ok("namespace", text);
}

interface BusQuestion {
  readonly settings: SwarmSettings;
  readonly bus: string;
  readonly expect: number;
  readonly listenMs: number;
  readonly progress: Progress;
}

async function checkBus(findings: Findings, question: BusQuestion, world: World): Promise<void> {
  const { settings, bus: address, progress } = question;
  const { timeoutMs, busFrom } = settings;
  const { kind } = parseBusAddress(address);
  findings.ok("address", `${shownAddress(address)}, from ${busFrom}`);
  if (kind === "memory") return;
  const { name, client } = busAdapters[kind];
  try {
    await loadAdapter(name);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    findings.bad("adapter", `${name} is not installed`, `npm install ${name} ${client}`);
    return;
  }
  checkPackage(findings, name, client);
  progress.say("connecting");
  const startedAt = performance.now();
  let bus: MessageBus;
  try {
    bus = await abortable(openBus(address, { connectTimeoutMs: timeoutMs }), world.signal, (late) => late.close());
  } catch (error) {
    progress.end();
    if (world.signal.aborted) throw error;
    const message = messageOf(error);
    findings.bad("broker", message, connectAdvice(message));
    return;
  }
  progress.end();
  findings.ok("broker", `reached in ${showDuration(performance.now() - startedAt)}`);
  try {
    await checkSwarm(findings, question, bus, world);
  } finally {
    await bus.close();
  }
}

async function checkSwarm(
  findings: Findings,
  question: BusQuestion,
  bus: MessageBus,
  { signal }: World,
): Promise<void> {
  const { settings, expect, listenMs, progress } = question;
  const { namespace, secret, swarmId, timeoutMs } = settings;
  const heard = await checkSubjects(findings, { bus, namespace: namespace.namespace, timeoutMs, signal });
  try {
    if (heard.isDeaf) return;
    progress.say(`listening for agents for ${showDuration(listenMs)}`);
    await using observer = await observeSwarm({ bus, namespace: namespace.namespace, secret, swarmId });
    const snapshot = await listen(observer, { listenMs, signal });
    const isAnyone = snapshot.agents.some(({ state }) => state === "live");
    const place = { timeoutMs, signal };
    const elsewhere = isAnyone ? [] : await namespacesElsewhere(question.bus, namespace.namespace, place);
    progress.end();
    checkAgents(findings, snapshot, { agents: expect, namespace: namespace.namespace, elsewhere });
    checkIgnored(findings, snapshot);
    checkSurvey(findings, surveyOf(heard.presence), isAnyone);
    checkTimestamps(findings, heard.aheadMs);
  } finally {
    progress.end();
    await heard.close();
  }
}

function expectOf(text: string): number {
  const number = Number(text);
  if (text === "" || !(Number.isSafeInteger(number) && number >= 0))
    refuse("--expect", "a whole number of 0 or more", text);
  return number;
}
