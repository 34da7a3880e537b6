import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const SECRET = "hunter2";
const password = `${SECRET}/${SECRET}?${SECRET}@${SECRET}:${SECRET}`;

/** Every published package, by the modules that its users import. */
const entries: Readonly<Record<string, () => Promise<object>>> = {
  bus: () => import("../../../packages/bus/src/index.ts"),
  "bus-kafka": () => import("../../../packages/bus-kafka/src/index.ts"),
  "bus-nats": () => import("../../../packages/bus-nats/src/index.ts"),
  "bus-redis-pubsub": () => import("../../../packages/bus-redis-pubsub/src/index.ts"),
  core: () => import("../../../packages/core/src/index.ts"),
  distributed: () => import("../../../packages/distributed/src/index.ts"),
  fetch: () => import("../../../packages/fetch/src/index.ts"),
  hivepace: () => import("../../../packages/hivepace/src/index.ts"),
  namespace: () => import("../../../packages/namespace/src/index.ts"),
  otel: () => import("../../../packages/otel/src/index.ts"),
  "sync-redis": () => import("../../../packages/sync-redis/src/index.ts"),
};

/** Options of all kinds that are wrong, each with a secret where users have theirs. */
const nested = {
  connectTimeoutMs: 50,
  url: `redis://me:${password}@127.0.0.1:1`,
  password,
  secret: [SECRET],
  apiKey: SECRET,
  headers: { authorization: SECRET },
};
const cause = Object.assign(new Error(`AUTH failed for redis://me:${password}@a`), {
  command: { args: [password] },
  options: nested,
});
const poisons: readonly unknown[] = [
  `redis://me:${password}@a:b`,
  `nats://${password}@`,
  `me:${password}@a/x`,
  nested,
  [nested],
  cause,
  ...["url", "servers", "brokers", "bus", "sync", "store", "redis", "manager", "gate", "source", "client"].flatMap(
    (option) => [
      { connectTimeoutMs: 50, [option]: `redis://me:${password}@a:b` },
      { connectTimeoutMs: 50, [option]: nested },
      { connectTimeoutMs: 50, [option]: [nested] },
    ],
  ),
  { secret: SECRET },
  { secret: [SECRET, 1] },
  { secret: { password } },
  { bus: Promise.reject(cause), endpoints: [{ id: "a" }] },
  { sync: Promise.reject(cause), endpoints: [{ id: "a" }] },
  { bus: nested, secret: SECRET, endpoints: [{ id: "a", rpmLimit: nested, apiKey: SECRET }] },
  { endpoints: { password }, keys: { a: { apiKey: SECRET } } },
  { url: "redis://127.0.0.1:1", password, connectTimeoutMs: 100 },
  { servers: "127.0.0.1:1", user: "me", pass: password, connectTimeoutMs: 100 },
  { brokers: ["127.0.0.1:1"], sasl: { mechanism: "plain", username: "me", password }, connectTimeoutMs: 100 },
];
for (const poison of poisons)
  for (const value of Object.values(poison as object)) if (value instanceof Promise) value.catch(() => {});

/** Brokers that are away are given up soon. */
const patience = { ...nested, connectTimeoutMs: 50 };

/** Everything that a logger could print of a value. */
function everything(value: unknown): string {
  const all = { depth: Infinity, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null };
  return `${inspect(value, all)} ${String((value as Error)?.stack)} ${String(value)}`;
}

const warned: unknown[] = [];
const note = (warning: unknown) => warned.push(warning);
beforeAll(() => void process.on("warning", note));
afterAll(async () => {
  await new Promise(setImmediate);
  process.off("warning", note);
  expect(everything(warned)).not.toContain(SECRET);
});

async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    const result = await run();
    // What was created is ended again.
    for (const end of ["close", "stop"]) await (result as Record<string, () => unknown> | undefined)?.[end]?.();
    return undefined;
  } catch (error) {
    return error;
  }
}

const isOwn = (error: unknown) => error instanceof Error && Symbol.for("hivepace.error") in error;

test.each(Object.keys(entries))("no error of %s contains a secret in any property at any depth", async (name) => {
  const functions = Object.entries((await entries[name]?.()) ?? {}).filter(([, value]) => typeof value === "function");
  let own = 0;
  for (const [called, value] of functions) {
    // Errors that users create contain what users say.
    if (value.prototype instanceof Error || /^(encode|escape|redact)/.test(called)) continue;
    // Adapters look for their brokers, which takes a while.
    for (const poison of poisons)
      for (const run of [
        () => value(poison, patience),
        ...(/^(bus-|sync-)/.test(name) ? [] : [() => new value(poison, nested), () => value(nested, poison)]),
      ]) {
        const error = await errorOf(run);
        if (isOwn(error)) own++;
        // The program's own error comes back as it is.
        if (error === cause) continue;
        expect(everything(error), `${called}(${inspect(poison, { depth: 1 })})`).not.toContain(SECRET);
      }
  }
  if (functions.some(([called]) => /^(create|open|connect|start|nats|redis|kafka|resolve)/.test(called)))
    expect(own).toBeGreaterThan(0);
});
