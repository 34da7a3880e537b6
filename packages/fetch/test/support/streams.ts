/** Joins the texts that `read` finds in the parts of a stream. */
export async function collect<T>(
  parts: AsyncIterable<T>,
  read: (part: T) => string | null | undefined,
): Promise<string> {
  let text = "";
  for await (const part of parts) text += read(part) ?? "";
  return text;
}
