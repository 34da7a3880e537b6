import { startProvider } from "@hivepace/provider";
import { expect, test } from "vitest";
import { chatRequest } from "./chat-request.ts";

test.each([40, 100, 2_000])(
  "the provider counts a call of about %d tokens as the limiters of the peers do",
  async (wanted) => {
    const provider = await startProvider({ rpm: 10, tpm: 100_000, outputTokens: 10_000 });
    for (const isStream of [false, true]) {
      const { url, init, tokens } = chatRequest(provider.url, "agent-1", wanted, isStream);
      await (await fetch(url, init)).arrayBuffer();
      expect(provider.log.at(-1)).toMatchObject({ agent: "agent-1", tokens, status: 200 });
      expect(tokens).toBeGreaterThanOrEqual(wanted);
      expect(tokens).toBeLessThan(wanted + 60);
    }
    await provider.close();
  },
);
