import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** What a provider does with a call. A number is a status without a meaning of its own. */
export type Behaviour =
  | { readonly kind: "ok"; readonly latencyMs?: number }
  | { readonly kind: "overload" }
  | { readonly kind: "limited"; readonly retryAfterS: number }
  | { readonly kind: "spent" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "reset" };

export interface Asked {
  /** Since the start of the measurement. */
  readonly ms: number;
  readonly model: string;
}

export interface BadProvider {
  readonly url: string;
  /** Requests that have arrived. */
  sent: number;
  close(): Promise<void>;
}

const LATENCY_MS = 30;

/** A server that speaks as OpenAI and as Anthropic do, and has the bad day that `behave` describes. */
export async function startBadProvider(
  behave: (asked: Asked) => Behaviour,
  startedAt: () => number,
): Promise<BadProvider> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { model } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string };
    provider.sent++;
    const behaviour = behave({ ms: performance.now() - startedAt(), model });
    const isAnthropic = request.url?.endsWith("/messages") === true;
    if (behaviour.kind === "reset") return void request.socket.destroy();
    await pause(behaviour.kind === "ok" ? (behaviour.latencyMs ?? LATENCY_MS) : LATENCY_MS / 3);
    const [status, headers, body] = isAnthropic ? anthropic(behaviour, model) : openai(behaviour, model);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const provider: BadProvider = {
    url: `http://127.0.0.1:${port}`,
    sent: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return provider;
}

type Answer = readonly [status: number, headers: Record<string, string>, body: object];

function openai(behaviour: Behaviour, model: string): Answer {
  const error = (type: string, code: string | null, message: string) => ({
    error: { type, code, message, param: null },
  });
  switch (behaviour.kind) {
    case "ok":
      return [
        200,
        {},
        {
          id: "c",
          object: "chat.completion",
          created: 0,
          model,
          choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "yes" } }],
          usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
        },
      ];
    case "overload":
      return [503, {}, error("server_error", null, "The engine is currently overloaded, please try again later")];
    case "limited": {
      const headers = { "retry-after": String(behaviour.retryAfterS) };
      return [429, headers, error("requests", "rate_limit_exceeded", "Rate limit reached")];
    }
    case "spent":
      return [429, {}, error("insufficient_quota", "insufficient_quota", "You exceeded your current quota")];
    case "status":
      return [behaviour.status, {}, error("api_error", null, "Something went wrong")];
    case "reset":
      throw new Error("unreachable: a reset has no answer");
  }
}

function anthropic(behaviour: Behaviour, model: string): Answer {
  const error = (type: string, message: string) => ({ type: "error", error: { type, message } });
  switch (behaviour.kind) {
    case "ok": {
      const message = {
        id: "m",
        type: "message",
        role: "assistant",
        model,
        stop_reason: "end_turn",
        stop_sequence: null,
      };
      const usage = { input_tokens: 10, output_tokens: 1 };
      return [200, {}, { ...message, content: [{ type: "text", text: "yes" }], usage }];
    }
    case "overload":
      return [529, {}, error("overloaded_error", "Overloaded")];
    case "limited":
      return [429, { "retry-after": String(behaviour.retryAfterS) }, error("rate_limit_error", "Rate limited")];
    case "spent":
      return [400, {}, error("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")];
    case "status":
      return [behaviour.status, {}, error("api_error", "Something went wrong")];
    case "reset":
      throw new Error("unreachable: a reset has no answer");
  }
}
