import { committable } from "@hivepace/checks";
import { expect, test } from "vitest";
import { sidebar } from "../src/sidebar.ts";

test("every page of docs is in the navigation", () => {
  const links = sidebar.flatMap(({ items = [] }) => items.map(({ link = "" }) => link)).sort();
  const pages = committable(/^docs\/([^/]+|decisions\/README)\.md$/).map((file) =>
    file.replace(/^docs/, "").replace(/README\.md$|\.md$/, ""),
  );
  expect(links).toEqual(pages.sort());
});
