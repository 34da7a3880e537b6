import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { readMarkdown } from "./markdown.ts";
import { committable, root } from "./workspace.ts";

/** Absolute links into this repository: READMEs are read on npm too, where relative links do not work. */
const HERE = /^https:\/\/github\.com\/hivepace\/hivepace\/(?:tree|blob)\/main\//;
/** Only committable files count, because a link must work in a fresh clone. */
const files = new Set(committable(/./));
const folders = new Set([...files].flatMap(parents));
const documents = new Map(
  committable(/\.md$/).map((file) => [file, readMarkdown(readFileSync(join(root, file), "utf8"))] as const),
);

interface Target {
  /** Relative to the repository's root; a folder stands for its README. */
  readonly path: string;
  readonly anchor: string | undefined;
}

/** Undefined for a link out of the repository. */
function targetOf(document: string, link: string): Target | undefined {
  const [place = "", anchor] = link.split("#");
  if (HERE.test(place)) return { path: tidy(place.replace(HERE, "")), anchor };
  if (/^[a-z][a-z+.-]*:/i.test(place)) return undefined;
  return { path: place === "" ? document : tidy(join(dirname(document), decodeURI(place))), anchor };
}

const tidy = (path: string) => normalize(path).replace(/(?<=.)\/$/, "");

function parents(file: string): string[] {
  const folder = dirname(file);
  return folder === "." ? ["."] : [folder, ...parents(folder)];
}

const documentAt = (path: string) => (folders.has(path) ? join(path, "README.md") : path);

function mistakeOf({ path, anchor }: Target): string | undefined {
  if (!files.has(path) && !folders.has(path)) return "is not there";
  if (anchor === undefined || (anchor === "readme" && folders.has(path) && documents.has(documentAt(path))))
    return undefined;
  const there = documents.get(documentAt(path));
  if (!there) return /^L\d+$/.test(anchor) ? undefined : "has no headings";
  return there.anchors.has(anchor) ? undefined : "has no such heading";
}

test("every link of every document has an existing file and heading as its target", () => {
  const mistakes = [...documents].flatMap(([document, { links }]) =>
    links.flatMap(({ target: link, line }) => {
      const target = targetOf(document, link);
      const mistake = target && mistakeOf(target);
      return mistake ? [`${document}:${line}: ${link} ${mistake}`] : [];
    }),
  );
  expect(mistakes).toEqual([]);
});

/** Returns all documents reachable from a document by links, including itself. */
function reachableFrom(start: string): Set<string> {
  const found = new Set([start]);
  for (const document of found)
    for (const { target: link } of documents.get(document)?.links ?? []) {
      const target = targetOf(document, link);
      if (target && !mistakeOf(target)) found.add(documentAt(target.path));
    }
  return found;
}

test("every page of docs can be reached from docs/README.md, and every picture is shown", () => {
  const reachable = reachableFrom("docs/README.md");
  const pages = committable(/^docs\/.*\.(md|svg|png)$/);
  expect(pages.filter((page) => !reachable.has(page))).toEqual([]);
});
