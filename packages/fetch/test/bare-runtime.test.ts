import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("a limited fetch works without Node: no process, no modules", async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
    bundle: true,
    format: "iife",
    globalName: "hivepace",
    platform: "neutral",
    target: "es2022",
    conditions: ["@hivepace/source"],
    write: false,
  });
  const web = {
    Headers,
    Response,
    ReadableStream,
    TextDecoder,
    TextEncoder,
    URL,
    performance,
    setTimeout,
    clearTimeout,
  };
  const bare = createContext(web);
  runInContext(String(outputFiles[0]?.text), bare);
  const result = await runInContext(
    `(async () => {
      const ended = [];
      const lease = { endpoint: "openai", done: (used) => ended.push(used.tokens), renew() {} };
      const fetch = async () => new Response('{"usage":{"prompt_tokens":3,"completion_tokens":4}}');
      const limited = hivepace.createLimitedFetch({ acquire: async () => lease }, { fetch });
      const response = await limited("https://api.openai.com/v1/chat/completions", { method: "POST", body: "{}" });
      return [typeof process, (await response.json()).usage.prompt_tokens, ended].join();
    })()`,
    bare,
  );
  expect(result).toBe("undefined,3,7");
});
