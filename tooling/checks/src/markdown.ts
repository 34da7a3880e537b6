/** The parts of a document that checks use: its links and its anchors. */
export interface Markdown {
  /** Targets of links and pictures, verbatim, with their lines. */
  readonly links: readonly { readonly target: string; readonly line: number }[];
  /** Valid fragments after a `#`, by GitHub's rules. */
  readonly anchors: ReadonlySet<string>;
}

export function readMarkdown(text: string): Markdown {
  const links: { target: string; line: number }[] = [];
  const anchors = new Set<string>();
  for (const [i, line] of prose(text).entries()) {
    for (const target of targets(line)) links.push({ target, line: i + 1 });
    const heading = line.match(/^#{1,6}\s+(.*?)(\s+#+)?\s*$/)?.[1];
    if (heading !== undefined) anchors.add(unused(slug(heading), anchors));
    for (const [, id = ""] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id);
  }
  return { links, anchors };
}

/** Returns the lines of a document, with the lines of code blocks blanked. */
function prose(text: string): string[] {
  let fence: string | undefined;
  return text.split("\n").map((line) => {
    const mark = line.match(/^\s*(`{3,}|~{3,})/)?.[1];
    if (fence === undefined && mark === undefined) return line;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    return "";
  });
}

function targets(line: string): string[] {
  const text = line.replace(/`[^`]*`/g, "code");
  const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const reference = [...text.matchAll(/^\s*\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/g)];
  const html = [...text.matchAll(/<(?:a|img|source)\s[^>]*?(?:href|src|srcset)="([^"]+)"/g)];
  return [...inline, ...reference, ...html].map(([, target = ""]) => target);
}

/** GitHub's anchor of a heading: the text in lower case, without punctuation, with hyphens for spaces. */
export function slug(heading: string): string {
  const text = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "");
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** Numbers the second and later headings of the same name, as GitHub does. */
function unused(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let i = 1; ; i++) if (!taken.has(`${name}-${i}`)) return `${name}-${i}`;
}
