import { posix } from "node:path";

const REPOSITORY = "https://github.com/hivepace/hivepace";

/**
 * The address on the site for a link in a document of `docs`. Links out of `docs` lead to the repository on GitHub, and a
 * folder's README is its index page. External links and anchors are unchanged.
 *
 * @param document path of the document, relative to `docs`
 */
export function siteLink(document: string, link: string): string {
  if (link.startsWith("#") || link.startsWith("/") || /^[a-z][a-z+.-]*:/i.test(link)) return link;
  const [place = "", anchor] = link.split("#");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  const target = posix.normalize(posix.join("docs", posix.dirname(document), place));
  if (!target.startsWith("docs/"))
    return `${REPOSITORY}/${posix.extname(target) ? "blob" : "tree"}/main/${target}${hash}`;
  return place.replace(/(^|\/)README\.md$/, "$1index.md") + hash;
}
