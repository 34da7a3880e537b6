import { test } from "vitest";
import { hivepaceMiddleware } from "../src/ai-sdk.ts";
import { LocalGate } from "./support/local-gate.ts";

type MiddlewareOf<W extends (options: never) => unknown> = Parameters<W>[0] extends { middleware: infer M } ? M : never;

test("the middleware has the type that each version of the AI SDK takes", () => {
  const middleware = hivepaceMiddleware(new LocalGate());
  middleware satisfies MiddlewareOf<typeof import("ai-5").wrapLanguageModel>;
  middleware satisfies MiddlewareOf<typeof import("ai").wrapLanguageModel>;
  middleware satisfies MiddlewareOf<typeof import("ai-7").wrapLanguageModel>;
});
