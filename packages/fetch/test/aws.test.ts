import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { describe, expect, test } from "vitest";
import { type AwsOptions, limitAwsClient } from "../src/aws.ts";
import { type BedrockReply, startBedrock } from "./support/fake-bedrock.ts";
import { LocalGate } from "./support/local-gate.ts";

const MODEL = "anthropic.claude-3-haiku-20240307-v1:0";
const USAGE = { inputTokens: 20, outputTokens: 7, totalTokens: 27 };
const converse = { modelId: MODEL, messages: [{ role: "user" as const, content: [{ text: "hello" }] }] };
const ANSWER = {
  output: { message: { role: "assistant", content: [{ text: "hi" }] } },
  stopReason: "end_turn",
  usage: USAGE,
  metrics: { latencyMs: 1 },
};

async function world(replies: readonly BedrockReply[], options: AwsOptions = {}, maxAttempts = 3) {
  const server = await startBedrock(...replies);
  const gate = new LocalGate();
  const bare = new BedrockRuntimeClient({
    region: "eu-central-1",
    endpoint: server.url,
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
    maxAttempts,
  });
  const client = limitAwsClient(bare, gate, options);
  return {
    server,
    gate,
    client,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await gate.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a conversation takes a lease of its model and ends it with the reported usage", async () => {
  await using bedrock = await world([{ json: ANSWER }]);
  const { usage } = await bedrock.client.send(new ConverseCommand(converse));
  expect(usage).toMatchObject(USAGE);
  expect(bedrock.gate.granted[0]?.request).toMatchObject({ endpoint: "bedrock", model: MODEL });
  expect(bedrock.gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 20, outputTokens: 7 } }]);
});

test.each([
  ["in its body", { usage: { input_tokens: 20, output_tokens: 7 } }, {}],
  [
    "in headers",
    { text: "hi" },
    { "x-amzn-bedrock-input-token-count": "20", "x-amzn-bedrock-output-token-count": "7" },
  ],
])("an invocation ends its lease with the usage %s", async (_, json, headers) => {
  await using bedrock = await world([{ json, headers }]);
  const { body } = await bedrock.client.send(new InvokeModelCommand({ modelId: MODEL, body: "{}" }));
  expect(JSON.parse(body.transformToString())).toEqual(json);
  expect(bedrock.gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 20, outputTokens: 7 } }]);
});

describe("a stream", () => {
  const EVENTS = [
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }],
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { usage: USAGE, metrics: { latencyMs: 1 } }],
  ] as const;

  test("passes its events on and ends its lease with the usage of the last one", async () => {
    await using bedrock = await world([{ events: EVENTS }]);
    const { stream = [] } = await bedrock.client.send(new ConverseStreamCommand(converse));
    const seen: string[] = [];
    for await (const event of stream) seen.push(...Object.keys(event));
    expect(seen).toEqual(EVENTS.map(([type]) => type));
    expect(bedrock.gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 20, outputTokens: 7 } }]);
  });

  test("of a model's own events ends its lease with their metrics", async () => {
    const own = {
      type: "message_stop",
      "amazon-bedrock-invocationMetrics": { inputTokenCount: 20, outputTokenCount: 7 },
    };
    const bytes = Buffer.from(JSON.stringify(own)).toString("base64");
    await using bedrock = await world([{ events: [["chunk", { bytes }]] }]);
    const command = new InvokeModelWithResponseStreamCommand({ modelId: MODEL, body: "{}" });
    const { body = [] } = await bedrock.client.send(command);
    for await (const { chunk } of body) expect(JSON.parse(Buffer.from(chunk?.bytes ?? []).toString())).toEqual(own);
    expect(bedrock.gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 20, outputTokens: 7 } }]);
  });

  test("that is left early ends its lease", async () => {
    await using bedrock = await world([{ events: EVENTS }]);
    const { stream = [] } = await bedrock.client.send(new ConverseStreamCommand(converse));
    for await (const _ of stream) break;
    expect(bedrock.gate.endings).toMatchObject([{ how: "done" }]);
  });

  test("that is throttled in the middle ends its lease as refused, and the reader gets the SDK's error", async () => {
    const events = [EVENTS[0], ["throttlingException", { message: "Too many tokens" }] as const];
    await using bedrock = await world([{ events }]);
    const { stream = [] } = await bedrock.client.send(new ConverseStreamCommand(converse));
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject({ name: "ThrottlingException" });
    expect(bedrock.gate.endings).toMatchObject([{ how: "refused", refusal: { reason: "rate_limited" } }]);
  });
});

test("every attempt of the SDK has a lease, and a throttled one is announced", async () => {
  await using bedrock = await world([{ error: "ThrottlingException", status: 429 }, { json: ANSWER }]);
  await bedrock.client.send(new ConverseCommand(converse));
  expect(bedrock.server.paths).toHaveLength(2);
  expect(bedrock.gate.endings).toMatchObject([
    { how: "refused", refusal: { reason: "429 rate_limited" } },
    { how: "done" },
  ]);
});

test("maxAttempts of the client counts, and its last error is the caller's", async () => {
  await using bedrock = await world([{ error: "ThrottlingException", status: 429 }], {}, 1);
  await expect(bedrock.client.send(new ConverseCommand(converse))).rejects.toMatchObject({
    name: "ThrottlingException",
    $metadata: { httpStatusCode: 429, attempts: 1 },
  });
  expect(bedrock.server.paths).toHaveLength(1);
});

test("a request that is wrong costs no tokens and is announced to nobody", async () => {
  await using bedrock = await world([{ error: "ValidationException", status: 400 }]);
  await expect(bedrock.client.send(new ConverseCommand(converse))).rejects.toThrow();
  expect(bedrock.gate.endings).toMatchObject([{ how: "done", used: { tokens: 0 } }]);
});

test("a call whose signal is aborted while it waits is not sent", async () => {
  await using bedrock = await world([{ json: ANSWER }]);
  const leaving = new AbortController();
  let waits: AbortSignal | undefined;
  bedrock.gate.acquire = ({ signal }) =>
    new Promise((_, reject) => {
      waits = signal as AbortSignal;
      waits.addEventListener("abort", () => reject(waits?.reason));
      leaving.abort(new Error("left"));
    });
  const call = bedrock.client.send(new ConverseCommand(converse), { abortSignal: leaving.signal });
  // Newer SDKs throw an error of their own, older ones pass on ours.
  await expect(call).rejects.toThrow(/left|aborted/);
  expect([waits, bedrock.server.paths]).toEqual([leaving.signal, []]);
});

test("a call without a limit passes, and the endpoint may be chosen for each call", async () => {
  const endpoint = ({ model }: { model?: string | undefined }) => (model === MODEL ? undefined : "other");
  await using bedrock = await world([{ json: ANSWER }], { endpoint });
  await bedrock.client.send(new ConverseCommand(converse));
  expect(bedrock.gate.granted).toEqual([]);
  await bedrock.client.send(new ConverseCommand({ ...converse, modelId: "amazon.nova-pro-v1:0" }));
  expect(bedrock.gate.granted[0]?.request).toMatchObject({ endpoint: "other", model: "amazon.nova-pro-v1:0" });
});

test("anything but a client of the AWS SDK is an error", () => {
  expect(() => limitAwsClient({} as never, new LocalGate())).toThrow(/client must be a client of the AWS SDK/);
});
