import type { Anthropic } from "@anthropic-ai/sdk";
import type { Gate } from "@hivepace/core";
import { LimitedFetch } from "./limited-fetch/create-limited-fetch.ts";
import type { PacingOptions } from "./options.ts";

/** What the SDK hands to a middleware. */
interface SdkRequest {
  url: string;
}
interface SdkContext {
  /** Absent when the SDK fetches credentials for itself. */
  readonly options?: unknown;
}

/** Fits the `middleware` of Anthropic's client. */
export type AnthropicMiddleware = <R extends SdkRequest, S>(
  request: R,
  next: (request: R) => Promise<S>,
  context: SdkContext,
) => Promise<S>;

type Middleware = NonNullable<NonNullable<ConstructorParameters<typeof Anthropic>[0]>["middleware"]>[number];

/**
 * For `new Anthropic({ middleware: [hivepaceMiddleware(hive)] })`. The same as a limited `fetch`, and it also sees requests
 * to Bedrock, Vertex and Foundry as Anthropic's own.
 */
export function hivepaceMiddleware(gate: Gate, options: PacingOptions = {}): AnthropicMiddleware {
  const core = new LimitedFetch(gate, options, []);
  const middleware = async (
    request: Parameters<Middleware>[0],
    next: Parameters<Middleware>[1],
    context: SdkContext,
  ) => {
    if (context.options === undefined) return next(request);
    return core.fetch(request.url, request as RequestInit, (url, init) =>
      next({ ...request, ...init, url, headers: new Headers(init.headers) } as typeof request),
    );
  };
  return middleware satisfies Middleware as AnthropicMiddleware;
}
