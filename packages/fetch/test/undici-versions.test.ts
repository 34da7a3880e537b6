import { describe, expect, it } from "vitest";
import { hivepaceInterceptor } from "../src/undici.ts";
import { nodeIsAtLeast } from "./support/node-version.ts";
import { providerForEachTest } from "./support/provider-for-each-test.ts";

type Undici = typeof import("undici");

/** The versions that the peer range admits, and the first Node that can load them. `runtimes` runs these tests on later Nodes. */
const versions = [
  { name: "undici 6", load: () => import("undici-6") as unknown as Promise<Undici>, node: "18.17.0" },
  { name: "undici 7", load: () => import("undici"), node: "20.18.1" },
  { name: "undici 8", load: () => import("undici-8") as unknown as Promise<Undici>, node: "22.19.0" },
];

const body = JSON.stringify({ model: "gpt-x", messages: [{ role: "user", content: "hello" }] });
const streamed = JSON.stringify({ ...JSON.parse(body), stream: true, stream_options: { include_usage: true } });

describe.for(versions)("$name, which needs Node $node", ({ load, node }) => {
  const test = it.skipIf(!nodeIsAtLeast(node));
  const each = providerForEachTest();

  const world = async () => {
    const undici = await load();
    const agent = new undici.Agent();
    const dispatcher = agent.compose(hivepaceInterceptor(each.gate, { baseDelayMs: 5, endpoint: "p" }));
    return { ...undici, agent, dispatcher, url: `${each.provider.url}/v1/chat/completions` };
  };

  const headers = { "content-type": "application/json" };

  test("request(): the answer arrives and is settled", async () => {
    const { request, dispatcher, agent, url } = await world();
    const { statusCode, body: answer } = await request(url, { method: "POST", body, headers, dispatcher });
    expect([statusCode, await answer.json()]).toMatchObject([200, { usage: { completion_tokens: 16 } }]);
    expect(each.gate.endings).toMatchObject([{ how: "done", used: { tokens: each.provider.log[0]?.tokens } }]);
    await agent.close();
  });

  test("fetch(): the model is read, the stream arrives and is settled", async () => {
    const { fetch, dispatcher, agent, url } = await world();
    const answer = await fetch(url, { method: "POST", body: streamed, headers, dispatcher });
    expect((await answer.text()).match(/"content":"bee "/g)).toHaveLength(16);
    expect(each.gate.granted[0]?.request).toMatchObject({ endpoint: "p", model: "gpt-x" });
    expect(each.gate.endings).toMatchObject([{ how: "done", used: { tokens: each.provider.log[0]?.tokens } }]);
    await agent.close();
  });

  test("fetch(): a refusal is sent again", async () => {
    const { fetch, dispatcher, agent, url } = await world();
    each.provider.failNext("rate-limited");
    const answer = await fetch(url, { method: "POST", body, headers, dispatcher });
    expect([answer.status, await answer.json()]).toMatchObject([200, { usage: { completion_tokens: 16 } }]);
    expect(each.gate.endings.map((ending) => ending?.how)).toEqual(["refused", "done"]);
    await agent.close();
  });

  test("fetch(): an abort ends the wait for a turn", async () => {
    const { fetch, agent, url, Agent } = await world();
    let asked: AbortSignal | undefined;
    const closed = new Agent().compose(
      hivepaceInterceptor({
        acquire: ({ signal }) => {
          asked = signal as AbortSignal;
          return new Promise((_resolve, reject) => {
            asked?.addEventListener("abort", () => reject(asked?.reason));
            abort.abort();
          });
        },
      }),
    );
    const abort = new AbortController();
    await expect(
      fetch(url, { method: "POST", body, headers, dispatcher: closed, signal: abort.signal }),
    ).rejects.toMatchObject({ name: "AbortError" });
    expect(asked?.aborted).toBe(true);
    expect(each.provider.log).toEqual([]);
    await agent.close();
  });
});
