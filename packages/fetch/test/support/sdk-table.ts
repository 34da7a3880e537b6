import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { SdkRow } from "./sdk-call.ts";
import { SDKS } from "./sdk-rows.ts";

/** The version that is installed under a name. */
export function versionOf(installed: string): string {
  const require = createRequire(import.meta.url);
  for (let folder = dirname(require.resolve(installed)); ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (name && version) return version;
    } catch {
      if (folder === dirname(folder)) throw new Error(`no version of ${installed}`);
    }
  }
}

const RETRIES: Readonly<Record<SdkRow["retries"], string>> = {
  header: "off for refusals: it heeds `x-should-retry`",
  mark: "off for refusals: the error says so",
  none: "none",
  set: "**on**: set `maxRetries: 0`",
};

const TIMEOUTS: Readonly<Record<SdkRow["timeout"], string>> = {
  header: "header",
  signal: "abort",
  none: "has none",
};

interface Line {
  readonly versions: string[];
  readonly sdk: string;
  readonly where: string;
  readonly retries: string;
  readonly timeout: string;
}

/** Clients that send no request with `fetch`. `undici-versions.test.ts` and `aws.test.ts` run them. */
const OTHERS: readonly (readonly [sdk: string, installed: readonly string[], where: string, retries: string])[] = [
  [
    "undici",
    ["undici-6", "undici", "undici-8"],
    "`new Agent().compose(hivepaceInterceptor(hive))` of `@hivepace/fetch/undici`",
    "none, without its `retry` interceptor",
  ],
  [
    "@aws-sdk/client-bedrock-runtime",
    ["@aws-sdk/client-bedrock-runtime"],
    "`limitAwsClient(client, hive)` of `@hivepace/fetch/aws`",
    "on, as `maxAttempts` says: each attempt takes a turn",
  ],
];

/** The table of `docs/sdks.md`. */
export function sdkTable(): string {
  const lines = new Map<string, Line>();
  for (const { sdk, installed, where, retries, timeout } of SDKS) {
    const key = `${sdk} ${where}`;
    const line = lines.get(key) ?? { versions: [], sdk, where, retries: RETRIES[retries], timeout: TIMEOUTS[timeout] };
    line.versions.push(versionOf(installed));
    lines.set(key, line);
  }
  for (const [sdk, installed, where, retries] of OTHERS)
    lines.set(sdk, { versions: installed.map(versionOf), sdk, where, retries, timeout: "abort" });
  const rows = [...lines.values()].map(
    ({ sdk, versions, where, retries, timeout }) =>
      `| \`${sdk}\` | ${versions.join(", ")} | ${where} | ${retries} | ${timeout} |`,
  );
  const head = [
    "| client | tested versions | where it goes | its own retries | its timeout |",
    "|---|---|---|---|---|",
  ];
  return [...head, ...rows].join("\n");
}
