import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createLimitedFetch } from "../src/index.ts";
import { LocalGate } from "./support/local-gate.ts";
import { SDKS, sdkTable, versionOf } from "./support/sdk-matrix.ts";
import { ANSWER, providerFetch } from "./support/sdk-provider.ts";

const rows = SDKS.map((row) => ({ ...row, version: versionOf(row.installed) }));

describe.each(rows)("$sdk $version", ({ ask, model }) => {
  test("a refused call is sent again by the limited fetch, and settled with the reported usage", async () => {
    const provider = providerFetch(1);
    const gate = new LocalGate();
    const fetch = createLimitedFetch(gate, { fetch: provider.fetch, baseDelayMs: 1, endpoint: "p" });
    expect(await ask(fetch)).toBe(ANSWER);
    expect(gate.granted.map(({ request }) => request.model)).toEqual([model, model]);
    expect(gate.endings).toMatchObject([
      { how: "refused" },
      { how: "done", used: { inputTokens: 20, outputTokens: 3 } },
    ]);
    await gate.close();
  });

  test("a call that stays refused is an error of the SDK, and the SDK does not try again", async () => {
    const provider = providerFetch(Infinity);
    const gate = new LocalGate();
    const options = { fetch: provider.fetch, baseDelayMs: 1, maxRetries: 1, endpoint: "p" };
    await expect(ask(createLimitedFetch(gate, options))).rejects.toThrow();
    expect(provider.calls()).toBe(2);
    await gate.close();
  });
});

test("the table in docs/sdks.md is of the clients and versions that are tested here", () => {
  const page = readFileSync(new URL("../../../docs/sdks.md", import.meta.url), "utf8");
  expect(page).toContain(sdkTable());
});
