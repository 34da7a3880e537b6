import { isHivepaceError, MemoryLimiter } from "@hivepace/core";
import { createLimitedFetch } from "@hivepace/fetch";
import { startProvider } from "@hivepace/provider";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Instrumentation, instrumentHivepace } from "../src/index.ts";
import { TestSpans } from "./support/spans.ts";
import { TestWorld } from "./support/world.ts";

let spans: TestSpans;
let world: TestWorld;
let running: Instrumentation;
beforeEach(() => {
  spans = new TestSpans();
  world = new TestWorld();
  running = instrumentHivepace({ tracerProvider: spans.provider, metrics: false });
});
afterEach(async () => {
  running.stop();
  await world.close();
  await spans.close();
});

/** Runs the work within a span. */
const within = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  spans.tracer.startActiveSpan(name, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });

test("a wait is a child span of its caller's span, and an immediate grant has no span", async () => {
  const hive = await world.hive("a", { bus: undefined });
  await within("first", async () => (await hive.acquire({ endpoint: "eu", tokens: 900 })).done());
  expect(spans.named("hivepace.wait")).toEqual([]);
  const second = within("second", () => hive.acquire({ endpoint: "eu", tokens: 900 }));
  await world.clock.run(61_000);
  const lease = await second;
  const [wait] = spans.named("hivepace.wait");
  const [parent] = spans.named("second");
  expect(wait?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
  expect(wait?.spanContext().traceId).toBe(parent?.spanContext().traceId);
  expect(wait?.attributes).toEqual({
    "hivepace.source": "hive",
    "hivepace.resource": "eu",
    "hivepace.cost": 900,
    "hivepace.limited_by": "endpoint-tpm",
    "hivepace.outcome": "granted",
  });
  expect(wait?.status.code).toBe(SpanStatusCode.UNSET);
  // A link for a span that the program creates.
  expect(running.linkTo(lease)?.context).toEqual(wait?.spanContext());
  expect(running.linkTo({ ...lease })).toBeUndefined();
});

test("a denied wait is an error, an aborted one is not", async () => {
  const limiter = new MemoryLimiter({ clock: world.clock });
  limiter.setCapacity("api", 1, 60_000);
  limiter.tryAcquire("api");
  const aborting = new AbortController();
  const waits = [
    limiter.acquire("api", { timeoutMs: 1_000 }).catch((error) => isHivepaceError(error, "CAPACITY_EXHAUSTED")),
    limiter.acquire("api", { signal: aborting.signal }).catch(() => "aborted"),
  ];
  aborting.abort();
  await world.clock.run(1_000);
  expect(await Promise.all(waits)).toEqual([true, "aborted"]);
  expect(
    spans.named("hivepace.wait").map(({ attributes, status }) => [attributes["hivepace.outcome"], status.code]),
  ).toEqual([
    ["aborted", SpanStatusCode.UNSET],
    ["timeout", SpanStatusCode.ERROR],
  ]);
  await limiter.close();
});

test("the HTTP call that follows a wait is linked to it", async () => {
  const http = new UndiciInstrumentation();
  http.setTracerProvider(spans.provider);
  const provider = await startProvider({ rpm: 100 });
  // One request fits in each window, so the second one waits for the next window.
  const hive = await world.hive("a", { bus: undefined, endpoints: [{ id: "eu", rpmLimit: 1 }] });
  const limited = createLimitedFetch(hive, { endpoint: "eu", clock: world.clock });
  const call = (name: string) =>
    within(name, () =>
      limited(`${provider.url}/v1/chat/completions`, { method: "POST", body: '{"model":"gpt-x"}' }).then((answer) =>
        answer.text(),
      ),
    );
  try {
    await call("one");
    const two = call("two");
    await world.clock.run(61_000);
    await two;
    const [first, second] = spans.named("hivepace.call");
    const [wait] = spans.named("hivepace.wait");
    const [, parent] = [...spans.named("one"), ...spans.named("two")];
    const requests = spans.named("POST");
    expect(first?.links).toEqual([]);
    expect(second?.links).toMatchObject([{ context: wait?.spanContext(), attributes: { "hivepace.link": "wait" } }]);
    // The wait and the call are siblings; the HTTP request is a child of the call.
    expect(wait?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
    expect(second?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
    expect(requests.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      [first, second].map((span) => span?.spanContext().spanId),
    );
    expect(second?.attributes).toEqual({
      "hivepace.resource": "eu",
      "hivepace.model": "gpt-x",
      "hivepace.provider": new URL(provider.url).host,
      "hivepace.call.retries": 0,
      "hivepace.waited": expect.any(Number),
      "hivepace.call.outcome": "answered",
    });
    expect(first?.attributes["hivepace.waited"]).toBe(0);
    expect(second?.attributes["hivepace.waited"]).toBeGreaterThan(1);
  } finally {
    http.disable();
    await provider.close();
  }
});

test("each attempt of a call is a separate span, and a refusal is an error", async () => {
  const answers = [() => new Response("{}", { status: 429 }), () => Response.json({})];
  const seen: (string | undefined)[] = [];
  const send = async (): Promise<Response> => {
    seen.push(trace.getSpan(context.active())?.spanContext().spanId);
    return (answers.shift() as () => Response)();
  };
  const hive = await world.hive("a", { bus: undefined, endpoints: [{ id: "eu" }] });
  const limited = createLimitedFetch(hive, { endpoint: "eu", clock: world.clock, fetch: send as typeof fetch });
  const call = limited("https://api.example.com/", { method: "POST", body: "{}" });
  await world.clock.run(60_000);
  await call;
  const calls = spans.named("hivepace.call");
  expect(calls.map((span) => span.spanContext().spanId)).toEqual(seen);
  expect(
    calls.map(({ attributes, status }) => [
      attributes["hivepace.call.retries"],
      attributes["hivepace.call.outcome"],
      attributes["error.type"],
      status.code,
    ]),
  ).toEqual([
    [0, "refused", "rate_limited", SpanStatusCode.ERROR],
    [1, "answered", undefined, SpanStatusCode.UNSET],
  ]);
});

test("a retry has its delay as an attribute, and a moved call its origin", async () => {
  const answers = [429, 429, 200].map((status) => () => new Response("{}", { status }));
  const send = async (): Promise<Response> => (answers.shift() as () => Response)();
  const hive = await world.hive("a", { bus: undefined, endpoints: [{ id: "eu" }, { id: "us" }] });
  const limited = createLimitedFetch(hive, {
    endpoint: "eu",
    fallback: [{ endpoint: "us", model: "gpt-y" }],
    maxRetries: 1,
    random: () => 0,
    clock: world.clock,
    fetch: send as typeof fetch,
  });
  const body = '{"model":"gpt-x"}';
  const call = limited("https://api.example.com/v1/chat/completions", { method: "POST", body });
  await world.clock.run(60_000);
  expect((await call).status).toBe(200);
  expect(
    spans
      .named("hivepace.call")
      .map(({ attributes }) =>
        ["resource", "model", "call.delay", "call.moves", "call.moved_from", "call.moved_from_model"].map(
          (name) => attributes[`hivepace.${name}`],
        ),
      ),
  ).toEqual([
    ["eu", "gpt-x", undefined, undefined, undefined, undefined],
    ["eu", "gpt-x", 0.25, undefined, undefined, undefined],
    ["us", "gpt-y", undefined, 1, "eu", "gpt-x"],
  ]);
});

test("stopping ends all open spans", async () => {
  const limiter = new MemoryLimiter({ clock: world.clock });
  limiter.setCapacity("api", 1, 60_000);
  limiter.tryAcquire("api");
  const wait = limiter.acquire("api").catch(() => {});
  running.stop();
  expect(spans.named("hivepace.wait")).toHaveLength(1);
  await limiter.close();
  await wait;
  expect(spans.named("hivepace.wait")).toHaveLength(1);
});
