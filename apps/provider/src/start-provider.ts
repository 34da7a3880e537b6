import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@hivepace/core";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import { Peak } from "./peak.ts";
import type { Answer, Call, Protocol } from "./protocol.ts";
import type { Failure, FakeProvider, ProviderOptions, ProviderState } from "./provider-types.ts";
import { largestWindow, type Sent } from "./record.ts";
import { Tallies } from "./tally.ts";
import { WindowLimit } from "./window-limit.ts";

const PROTOCOLS: readonly Protocol[] = [openai, anthropic, gemini];
const BYTES_PER_TOKEN = 4;
const DEFAULTS = { windowMs: 60_000, window: "sliding", outputTokens: 16 } as const;

/**
 * Starts a fake LLM provider on loopback. It serves the protocols of OpenAI, Anthropic and Gemini, each at its own
 * path.
 */
export async function startProvider(options: ProviderOptions = {}): Promise<FakeProvider> {
  const { windowMs = DEFAULTS.windowMs, window = DEFAULTS.window, clock = systemClock } = options;
  const limit = new WindowLimit(window, windowMs, options, options.countsRefused);
  const { logSize = Infinity } = options;
  const log: Sent[] = [];
  const tallies = new Tallies();
  const peak = new Peak(windowMs, options);
  const failures: Failure[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  // Node closes a connection after five idle seconds. On a busy machine a client might send at that very moment.
  server.keepAliveTimeout = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readAll(request);
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const path = new URL(request.url ?? "/", "http://provider").pathname;
    const protocol = PROTOCOLS.find((one) => one.read(path, body) !== undefined);
    const read = protocol?.read(path, body);
    if (!protocol || !read)
      return send(response, { status: 404, headers: {}, body: { error: { message: "not found" } } });

    const maxTokens = protocol.maxTokens(body) ?? Infinity;
    const call: Call = {
      ...read,
      inputTokens: Math.ceil(text.length / BYTES_PER_TOKEN),
      outputTokens: Math.min(maxTokens, options.outputTokens ?? DEFAULTS.outputTokens),
    };
    const failure = failures.shift();
    const now = clock.now();
    const tokens = call.inputTokens + call.outputTokens;
    const verdict = failure === undefined ? limit.tryTake(tokens, now) : undefined;
    const refusal = verdict && !verdict.allowed ? protocol.tooMany(verdict) : answerTo(failure, protocol);
    const status = failure === "hang-up" ? 0 : (refusal?.status ?? 200);
    const accepted = verdict?.allowed ?? failure === "overloaded-mid-stream";
    record({
      at: now,
      agent: agentOf(request),
      model: call.model,
      tokens,
      accepted,
      status,
      retryCount: Number(request.headers["x-stainless-retry-count"] ?? 0),
    });
    const headers = options.limitHeaders === false ? {} : protocol.limitHeaders(limit.state(now), clock.epochMs());
    const { latencyMs = 0 } = options;
    await pause(typeof latencyMs === "function" ? latencyMs() : latencyMs);
    if (failure === "hang-up") return void response.destroy();
    if (refusal) return send(response, { ...refusal, headers: { ...headers, ...refusal.headers } });
    if (!call.isStream) return send(response, { status: 200, headers, body: protocol.complete(call) });
    await stream(response, protocol, call, headers, failure === "overloaded-mid-stream");
  }

  function record(sent: Sent): void {
    tallies.add(sent);
    peak.add(sent.tokens, sent.at);
    log.push(sent);
    // Removes half of the log at once: removing single entries would move all others each time.
    if (log.length > 2 * logSize) log.splice(0, log.length - logSize);
  }

  function state(): ProviderState {
    const { requests, tokens } = limit.state(clock.now());
    return {
      windowMs,
      rpm: requests?.limit,
      tpm: tokens?.limit,
      usedRequests: requests ? Math.max(0, requests.limit - requests.remaining) : 0,
      usedTokens: tokens ? Math.max(0, tokens.limit - tokens.remaining) : 0,
    };
  }

  async function stream(
    response: ServerResponse,
    protocol: Protocol,
    call: Call,
    headers: Readonly<Record<string, string>>,
    isToFail: boolean,
  ): Promise<void> {
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    const all = protocol.events(call);
    const events = isToFail ? [...all.slice(0, Math.ceil(all.length / 3)), protocol.overloadEvent()] : all;
    for (const { event, data } of events) {
      if (response.destroyed) return;
      const isFull = !response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`);
      if (isFull) await drained(response);
      await pause(options.eventIntervalMs ?? 0);
    }
    response.end();
  }

  function pause(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => void clock.after(ms, resolve));
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    tally: tallies.all,
    agents: tallies.agents,
    largestWindow: (ms = windowMs) => largestWindow(log, ms),
    get peak() {
      return peak.ratio;
    },
    state,
    setLimits: (limits) => {
      const now = clock.now();
      limit.setLimits(limits, now);
      peak.setLimits(limits, now);
    },
    failNext: (...next) => void failures.push(...next),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function answerTo(failure: Failure | undefined, protocol: Protocol): Answer | undefined {
  if (typeof failure === "object") return failure;
  if (failure === "overloaded") return protocol.overloaded();
  if (failure === "spent") return protocol.spent();
  if (failure === "rate-limited") return protocol.tooMany({ limitedBy: "requests", retryAfterMs: 10 });
  if (failure === "server-error") return { status: 500, headers: {}, body: { error: { message: "internal error" } } };
  return undefined;
}

function agentOf({ headers }: IncomingMessage): string {
  const { "x-agent": agent, authorization, "x-api-key": key, "x-goog-api-key": googleKey } = headers;
  return String(agent ?? key ?? googleKey ?? authorization?.replace(/^Bearer /, "") ?? "unknown");
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Resolves also when the client disconnects, because then nothing drains. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
