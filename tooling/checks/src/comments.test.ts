import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commentsOf, testNamesOf, ticsOf, ticsOfName } from "./comments.ts";
import { committable, root } from "./workspace.ts";

/** The share of comments with unwanted phrases that a folder may have, in percent. */
const BOUND = 3;

const folderOf = (file: string) => file.match(/^(?:packages|apps|tooling)\/[^/]+|^[^/]+/)?.[0] ?? file;
const files = new Map<string, string[]>();
for (const file of committable(/^(?:packages|apps|tooling|bench|examples)\/.*\.ts$/)) {
  const folder = folderOf(file);
  files.set(folder, [...(files.get(folder) ?? []), file]);
}

describe("plain English", () => {
  test.each([...files])("%s has hardly any comments with unwanted phrases", (folder, inFolder) => {
    const comments = inFolder.flatMap((file) =>
      commentsOf(readFileSync(join(root, file), "utf8")).map(({ line, text }) => ({
        place: `${file}:${line}`,
        text,
        tics: ticsOf(text),
      })),
    );
    const bad = comments.filter(({ tics }) => tics.length > 0).sort((a, b) => b.tics.length - a.tics.length);
    const percent = (100 * bad.length) / Math.max(1, comments.length);
    const worst = bad.slice(0, 10).map(({ place, text, tics }) => `  ${place}: [${tics.join(", ")}] ${text}`);
    expect(
      percent,
      `${percent.toFixed(2)} % of the comments of ${folder} (${bad.length} of ${comments.length}) contain phrases that ` +
        `stand in place of a noun; the bound is ${BOUND} %. The worst:\n${worst.join("\n")}\n`,
    ).toBeLessThanOrEqual(BOUND);
  });
});

test("no test name opens with a pronoun, or contains unwanted phrases", () => {
  const names = [...files.values()]
    .flat()
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) =>
      testNamesOf(readFileSync(join(root, file), "utf8")).map(({ line, text }) => ({ place: `${file}:${line}`, text })),
    );
  expect(names.length).toBeGreaterThan(1_000);
  expect(names.filter(({ text }) => ticsOfName(text).length > 0)).toEqual([]);
});

describe("commentsOf", () => {
  test("returns line comments, block comments and comments at the end of a line, each with its first line", () => {
    const code = "/**\n * One,\n * in two lines.\n */\nconst a = 1; // two\n// three,\n// continued\n\n// four\n";
    expect(commentsOf(code)).toEqual([
      { line: 1, text: "One, in two lines." },
      { line: 5, text: "two" },
      { line: 6, text: "three, continued" },
      { line: 9, text: "four" },
    ]);
  });

  test("ignores comment markers in strings, templates and regular expressions", () => {
    const template = ["`/* no */ $", '{"// no" /* yes */} // no $', "{1} /* no */`"].join("");
    const code = `const a = "// no";\nconst b = ${template};\nconst c = /\\/*no*\\/ "/; // also\n`;
    expect(commentsOf(code).map(({ text }) => text)).toEqual(["yes", "also"]);
  });
});

describe("ticsOf", () => {
  test.each([
    ["Waits so long.", ["so long"]],
    ["Whoever asks first.", ["Whoever", "Whoever"]],
    ["Answers. What is left goes to others.", ["What"]],
    ["The limit, of late, is set anew.", ["anew", "of late"]],
    ["@param name Who asks.", ["Who"]],
    ["Nothing but for tests.", ["but for"]],
  ])("finds the unwanted phrases of: %s", (text, tics) => {
    expect(ticsOf(text)).toEqual(tics);
  });

  test.each([
    "Retries as long as so much as one agent is left.",
    "Rejects messages so long that they would not fit.",
    "What happens when the bus is away? Nothing.",
    'Prints "so much" and `whoever`.',
    "Returns the number of peers.",
  ])("accepts: %s", (text) => {
    expect(ticsOf(text)).toEqual([]);
  });
});

describe("testNamesOf", () => {
  test("returns the names of tests and groups, with modifiers, and no other strings", () => {
    const code = 'describe("a", () => {\n  test.each(["x"])("b", () => log("c"));\n});\nit.skip("d", run);\n';
    expect(testNamesOf(code)).toEqual([
      { line: 1, text: "a" },
      { line: 2, text: "b" },
      { line: 4, text: "d" },
    ]);
  });
});

test.each([
  ["whoever asks first is served", ["whoever", "whoever"]],
  ["it waits so long", ["so long", "it"]],
  ["a waiter is served in order", []],
])("the unwanted phrases of the test name: %s", (name, tics) => {
  expect(ticsOfName(name)).toEqual(tics);
});
