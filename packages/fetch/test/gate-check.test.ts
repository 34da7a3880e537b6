import { expect, test } from "vitest";
import { hivepaceMiddleware as aiMiddleware } from "../src/ai-sdk.ts";
import { hivepaceMiddleware as anthropicMiddleware } from "../src/anthropic.ts";
import { limitAwsClient } from "../src/aws.ts";
import { createLimitedFetch } from "../src/index.ts";
import { hivepaceInterceptor } from "../src/undici.ts";

const client = { send() {}, middlewareStack: { addRelativeTo() {}, add() {} } };

test.each<[string, (gate: never) => unknown]>([
  ["a limited fetch", (gate) => createLimitedFetch(gate)],
  ["the middleware of the AI SDK", (gate) => aiMiddleware(gate)],
  ["the middleware of Anthropic's SDK", (gate) => anthropicMiddleware(gate)],
  ["the interceptor of undici", (gate) => hivepaceInterceptor(gate)],
  ["a client of the AWS SDK", (gate) => limitAwsClient(client as never, gate)],
])("%s refuses a promise of a hive, and says how to mend that", (_, create) => {
  expect(() => create(Promise.resolve({}) as never)).toThrow("await createHive(…) first");
  expect(() => create({} as never)).toThrow("gate must be an object with acquire()");
  expect(() => create(undefined as never)).toThrow("gate must be an object with acquire()");
});
