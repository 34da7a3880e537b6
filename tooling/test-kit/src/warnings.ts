import { until } from "./until.ts";

/** The codes of the process's warnings while the work goes on, and until the one that is waited for, if any, has come. */
export async function warnings(work: () => Promise<void>, expected?: string): Promise<string[]> {
  const codes: string[] = [];
  const note = (warning: Error & { code?: string }) => codes.push(warning.code ?? warning.name);
  process.on("warning", note);
  try {
    await work();
    if (expected !== undefined) await until(() => codes.includes(expected), expected);
  } finally {
    process.off("warning", note);
  }
  return codes;
}
