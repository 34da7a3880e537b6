/** Collects the codes and the texts of process warnings until `stop` is called. */
export function collectWarnings(): { readonly codes: string[]; readonly texts: string[]; stop(): void } {
  const codes: string[] = [];
  const texts: string[] = [];
  const note = (warning: Error & { code?: string }) => {
    codes.push(warning.code ?? warning.name);
    texts.push(warning.message);
  };
  process.on("warning", note);
  return { codes, texts, stop: () => void process.off("warning", note) };
}
