import { until } from "./until.ts";

/** Returns the codes of the process's warnings during the work, and until the expected one, if any, was emitted. */
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
