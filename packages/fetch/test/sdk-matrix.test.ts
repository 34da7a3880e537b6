import { readFileSync } from "node:fs";
import { CapacityExhaustedError, type GateRequest } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { describe, expect, test } from "vitest";
import { classifyError, createLimitedFetch } from "../src/index.ts";
import { LocalGate } from "./support/local-gate.ts";
import type { SdkCall } from "./support/sdk-call.ts";
import { ANSWER, providerFetch } from "./support/sdk-provider.ts";
import { SDKS } from "./support/sdk-rows.ts";
import { sdkTable, versionOf } from "./support/sdk-table.ts";

const rows = SDKS.map((row) => ({ ...row, version: versionOf(row.installed) }));
const ways = [
  ["a document", false],
  ["a stream", true],
] as const;

const options = { endpoint: "p", baseDelayMs: 1 };

/** A gate without room: it keeps to the time and the signal of a request, as every gate does. */
class FullGate extends LocalGate {
  readonly asked: GateRequest[] = [];
  onAsked: () => void = () => undefined;

  override acquire(request: GateRequest): Promise<never> {
    const { signal, timeoutMs = Infinity } = request;
    this.asked.push(request);
    this.onAsked();
    return new Promise((_resolve, reject) => {
      // The SDK has stated its timeout; the default of the limited fetch is five minutes.
      if (timeoutMs < 300_000) reject(new CapacityExhaustedError("p", "timeout", "it is full"));
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  }
}

describe.each(rows)("$sdk $version", ({ sdk, ask, model, timeout }) => {
  describe.each(ways)("%s", (_way, isStream) => {
    test("arrives whole, and settles the call with the reported usage", async () => {
      const provider = providerFetch(0);
      const gate = new LocalGate();
      expect(await ask({ gate, send: provider.fetch, options, isStream })).toBe(ANSWER);
      expect(gate.granted.map(({ request }) => request.model)).toEqual([model]);
      expect(gate.endings).toMatchObject([{ how: "done", used: { inputTokens: 20, outputTokens: 3 } }]);
      await gate.close();
    });

    test("that is refused once is sent again by Hivepace", async () => {
      const provider = providerFetch(1);
      const gate = new LocalGate();
      expect(await ask({ gate, send: provider.fetch, options, isStream })).toBe(ANSWER);
      expect(gate.endings).toMatchObject([{ how: "refused", refusal: { kind: "limit" } }, { how: "done" }]);
      expect(provider.calls()).toBe(2);
      await gate.close();
    });

    test("that stays refused is an error of the SDK, which does not try again", async () => {
      const provider = providerFetch(Infinity);
      const gate = new LocalGate();
      const call = { gate, send: provider.fetch, options: { ...options, maxRetries: 1 }, isStream };
      const error: unknown = await ask(call).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(classifyError(error).class).toBe("rate_limited");
      expect(provider.calls()).toBe(2);
      await gate.close();
    });

    // Google's error has neither the header fields nor this body; the wait stands in the details of real answers.
    test.skipIf(sdk === "@google/genai")(
      "that is refused for long is an error that keeps the provider's wait",
      async () => {
        const refusal = { status: 429, headers: { "retry-after": "7", "content-type": "application/json" } };
        const send = (async () => new Response("{}", refusal)) as typeof fetch;
        const gate = new LocalGate();
        const call = { gate, send, options: { ...options, maxRetries: 0 }, isStream };
        const error: unknown = await ask(call).catch((thrown: unknown) => thrown);
        expect(classifyError(error)).toMatchObject({
          class: "rate_limited",
          ...(sdk === "ollama" ? {} : { retryAfterMs: 7_000 }),
        });
        await gate.close();
      },
    );

    test("ends its wait when the caller aborts, and is never sent", async () => {
      const provider = providerFetch(0);
      const gate = new FullGate();
      const abort = new AbortController();
      gate.onAsked = () => abort.abort(new Error("the caller has left"));
      const call: SdkCall = { gate, send: provider.fetch, options, isStream, signal: abort.signal };
      await expect(ask(call)).rejects.toThrow();
      expect(gate.asked).toHaveLength(1);
      expect(gate.asked[0]?.signal?.aborted).toBe(true);
      expect(provider.calls()).toBe(0);
      await gate.close();
    });

    test.skipIf(timeout === "none")("does not wait longer for its turn than the SDK waits for an answer", async () => {
      const provider = providerFetch(0);
      const gate = new FullGate();
      // A header has whole seconds. Nothing waits for them: the gate of this test gives up at once.
      const timeoutMs = timeout === "header" ? 2_000 : 20;
      const call = {
        gate,
        send: provider.fetch,
        options: { ...options, clock: new ManualClock() },
        isStream,
        timeoutMs,
      };
      await expect(ask(call)).rejects.toThrow();
      expect(gate.asked).toHaveLength(1);
      if (timeout === "header") expect(gate.asked[0]?.timeoutMs).toBe(1_600);
      else expect(gate.asked[0]?.signal?.aborted).toBe(true);
      expect(provider.calls()).toBe(0);
      await gate.close();
    });
  });
});

test.each([
  ["openai-5", () => import("openai-5") as unknown as Promise<typeof import("openai")>],
  ["openai", () => import("openai")],
  ["openai-7", () => import("openai-7") as unknown as Promise<typeof import("openai")>],
  ["groq-sdk", () => import("groq-sdk") as unknown as Promise<typeof import("openai")>],
])("%s tells the timeout of one request in a header", async (_installed, load) => {
  const gate = new FullGate();
  const fetch = createLimitedFetch(gate, { ...options, clock: new ManualClock() });
  const client = new (await load()).default({ apiKey: "k", fetch });
  const request = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
  await expect(client.chat.completions.create(request, { timeout: 2_000 })).rejects.toThrow(/429/);
  expect(gate.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([1_600]);
  await gate.close();
});

test("the table in docs/sdks.md is of the clients and versions that are tested here", () => {
  const page = readFileSync(new URL("../../../docs/sdks.md", import.meta.url), "utf8");
  const table = page.split("\n").filter((line) => line.startsWith("|"));
  expect(table, `replace the table in docs/sdks.md by\n${sdkTable()}\n`).toEqual(sdkTable().split("\n"));
});
