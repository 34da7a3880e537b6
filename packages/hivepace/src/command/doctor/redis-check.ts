import type { SyncStore } from "@hivepace/core";
import { messageOf } from "@hivepace/core/internal";
import { DOCTORS_ENDPOINT } from "../redis/endpoints.ts";
import { loadRedis, type OpenRedis, openRedis, REDIS_PACKAGES } from "../redis/open-redis.ts";
import { showDuration } from "../text/duration.ts";
import { connectAdvice } from "./advice.ts";
import type { Findings } from "./findings.ts";
import { CLOCK_SLACK_MS } from "./swarm-check.ts";
import { checkPackage } from "./versions.ts";

const LEAST_VERSION = 6;
/** The window of the probe in milliseconds: long enough for two calls, and its key expires soon after. */
const WINDOW_MS = 10_000;

export interface RedisQuestion {
  readonly url: string;
  readonly namespace: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Checks whether instances can share their counts in this Redis. */
export async function checkRedis(findings: Findings, question: RedisQuestion): Promise<void> {
  const [adapter, client] = REDIS_PACKAGES;
  try {
    await loadRedis(client);
    await loadRedis(adapter);
  } catch (error) {
    findings.bad("adapter", messageOf(error), connectAdvice(messageOf(error)));
    return;
  }
  checkPackage(findings, adapter, client);
  const startedAt = performance.now();
  let redis: OpenRedis;
  try {
    redis = await openRedis(question);
  } catch (error) {
    if (question.signal.aborted) throw error;
    findings.bad("redis", messageOf(error), connectAdvice(messageOf(error)));
    return;
  }
  try {
    const kind = redis.isCluster ? ", a Cluster" : "";
    findings.ok("redis", `reached in ${showDuration(performance.now() - startedAt)}${kind}`);
    await checkServer(findings, redis);
    await checkClock(findings, redis);
    await checkRights(findings, await redis.store(), question.namespace);
  } finally {
    redis.close();
  }
}

async function checkServer(findings: Findings, redis: OpenRedis): Promise<void> {
  const [node] = redis.nodes();
  let info: Map<string, string>;
  try {
    const sections = await Promise.all(["server", "memory", "replication"].map((part) => node?.call("INFO", part)));
    info = fieldsOf(sections.join("\n"));
  } catch (error) {
    findings.note("redis", `its version is unknown: ${messageOf(error)}`, "grant this user +info");
    return;
  }
  const version = info.get("redis_version") ?? "";
  const text = `version ${version}`;
  if (Number.parseInt(version, 10) >= LEAST_VERSION) findings.ok("redis", text);
  else findings.bad("redis", text, `Redis ${LEAST_VERSION} or newer is required`);
  if (info.get("role") === "slave")
    findings.bad("redis", "this is a read-only replica", "give the address of its master, or of the Sentinels");
  const policy = info.get("maxmemory_policy") ?? "";
  if (info.get("maxmemory") === "0" || policy === "") return;
  if (policy.startsWith("allkeys") || policy.startsWith("volatile"))
    findings.note("redis", `maxmemory-policy ${policy}`, "counts may be evicted when memory is short: set noeviction");
  else findings.ok("redis", `maxmemory-policy ${policy}`);
}

async function checkClock(findings: Findings, redis: OpenRedis): Promise<void> {
  const [node] = redis.nodes();
  const before = Date.now();
  let answer: unknown;
  try {
    answer = await node?.call("TIME");
  } catch (error) {
    findings.bad("clocks", messageOf(error), "grant this user +time: windows follow the clock of Redis");
    return;
  }
  const [seconds, micros] = answer as [string, string];
  const theirs = Number(seconds) * 1_000 + Number(micros) / 1_000;
  const ahead = (before + Date.now()) / 2 - theirs;
  const text = `this machine is ${showDuration(Math.abs(ahead))} ${ahead < 0 ? "behind" : "ahead of"} Redis`;
  if (Math.abs(ahead) <= CLOCK_SLACK_MS) findings.ok("clocks", text);
  else
    findings.note(
      "clocks",
      text,
      "windows follow the clock of Redis, so limits hold; but check NTP to keep logs comparable",
    );
}

/** Counts zero requests for the doctor's own endpoint, with exactly the commands that agents use. */
async function checkRights(findings: Findings, store: SyncStore, namespace: string): Promise<void> {
  const of = { kind: "endpoint", id: DOCTORS_ENDPOINT };
  const report = { namespace, agentId: "doctor", incarnation: crypto.randomUUID(), windowMs: WINDOW_MS };
  try {
    let window: number | undefined;
    // The window may end between two calls, so a second attempt may be needed.
    for (let sequence = 1; sequence <= 3; sequence++) {
      const counts = window === undefined ? [] : [{ of, requests: 0, tokens: 0 }];
      const watched = window === undefined ? [of] : [];
      const reply = await store.sync({ ...report, sequence, window, counts, watched });
      const [sum] = reply.sums;
      if (sum?.error !== undefined) throw new Error(sum.error);
      if (sum?.own !== undefined) {
        findings.ok("rights", `counts in ${namespace}:ratelimit:* can be read and written`);
        return;
      }
      window = reply.window;
    }
    findings.bad(
      "rights",
      "the counts of the probe were not kept",
      "check whether another program deletes keys of this namespace",
    );
  } catch (error) {
    const rights = `~${namespace}:ratelimit:* +evalsha +eval +time +hmget +hset +del +pexpire`;
    findings.bad("rights", messageOf(error), `grant this user: ${rights}`);
  }
}

function fieldsOf(info: string): Map<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(":");
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
}
