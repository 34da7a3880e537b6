import type { Anthropic } from "@anthropic-ai/sdk";
import type { Gate } from "@hivepace/core";
import { LimitedFetch } from "./limited-fetch/create-limited-fetch.ts";
import type { PacingOptions } from "./options.ts";

/** The argument that the SDK passes to a middleware. */
interface SdkRequest {
  url: string;
}
interface SdkContext {
  /** Absent in requests by which the SDK gets its own credentials. */
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
 * Returns a middleware for `new Anthropic({ middleware: [hivepaceMiddleware(hive)] })`. It works as a limited `fetch`
 * does, and reads requests to Bedrock, Vertex and Foundry as requests to Anthropic.
 *
 * @throws INVALID_CONFIG when an option breaks its rule.
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
