import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import type { Step } from "./step.ts";

const USAGE = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 };

/** The runtime's own `fetch`, limited: a refusal is announced and retried, the usage of the answer is settled. */
export const limitedFetch: Step = {
  name: "limited fetch",
  async run() {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      if (requests === 1) response.writeHead(429, { "retry-after": "0" }).end();
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ usage: USAGE }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const hive = await createHive({ endpoints: [{ id: "local", rpmLimit: 100, tpmLimit: 100_000 }] });
    try {
      const limited = createLimitedFetch(hive, { endpoint: "local", baseDelayMs: 10 });
      const body = JSON.stringify({ model: "some-model", messages: [{ role: "user", content: "hello" }] });
      const headers = { "content-type": "application/json", connection: "close" };
      const address = `http://127.0.0.1:${port}/v1/chat/completions`;
      const response = await limited(address, { method: "POST", headers, body });
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), { usage: USAGE });
      assert.equal(requests, 2);
      const { level, limits, inFlight } = hive.explain("local");
      assert.ok(level < 1, "the refusal was not announced");
      assert.equal(limits.find(({ dimension }) => dimension === "tokens")?.used, USAGE.total_tokens);
      assert.equal(inFlight, 0);
      return `a 429 and a 200 are one answer, ${USAGE.total_tokens} tokens are settled`;
    } finally {
      await hive.close();
      server.close();
      server.closeAllConnections();
    }
  },
};
