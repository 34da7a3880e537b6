/** Collects the codes of process warnings until `stop` is called. */
export function collectWarnings(): { readonly codes: string[]; stop(): void } {
  const codes: string[] = [];
  const note = (warning: Error & { code?: string }) => codes.push(warning.code ?? warning.name);
  process.on("warning", note);
  return { codes, stop: () => void process.off("warning", note) };
}
