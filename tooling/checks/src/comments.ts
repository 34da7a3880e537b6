import ts from "typescript";

/** A block comment, or a run of line comments on consecutive lines. */
export interface Comment {
  /** The first line, counted from 1. */
  readonly line: number;
  /** The prose without comment markers, on one line. */
  readonly text: string;
}

/** Returns every comment of a TypeScript file. Comment markers inside strings, templates and regexes do not count. */
export function commentsOf(code: string): Comment[] {
  const file = ts.createSourceFile("file.ts", code, ts.ScriptTarget.ESNext, true);
  const found = [...withoutLiterals(file).matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)];
  return joinLines(found.map(({ index, 0: match }) => read(file, index, index + match.length)));
}

/** Returns the names of the tests and groups of a file that are literals. */
export function testNamesOf(code: string): Comment[] {
  const file = ts.createSourceFile("file.ts", code, ts.ScriptTarget.ESNext, true);
  const names: Comment[] = [];
  const visit = (node: ts.Node): void => {
    const [name] = ts.isCallExpression(node) ? node.arguments : [];
    if (ts.isCallExpression(node) && name && ts.isStringLiteralLike(name) && isTestFunction(node.expression))
      names.push({ line: file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1, text: name.text });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

/** True for `test`, `describe` and the like, also with `.each(…)` and other modifiers. */
function isTestFunction(node: ts.Expression): boolean {
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return isTestFunction(node.expression);
  if (ts.isTaggedTemplateExpression(node)) return isTestFunction(node.tag);
  return ts.isIdentifier(node) && /^(?:test|it|describe)$/.test(node.text);
}

/** Returns the code with every literal blanked out, at the same length. Any comment marker left is a real one. */
function withoutLiterals(file: ts.SourceFile): string {
  let blanked = "";
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) {
      const start = node.getStart(file);
      blanked += file.text.slice(blanked.length, start) + " ".repeat(node.end - start);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return blanked + file.text.slice(blanked.length);
}

interface Part extends Comment {
  readonly lastLine: number;
  /** A line comment with nothing before it on its line, which may continue the comment above. */
  readonly continues: boolean;
}

function read(file: ts.SourceFile, pos: number, end: number): Part {
  const line = file.getLineAndCharacterOfPosition(pos).line;
  const before = file.text.slice(file.getPositionOfLineAndCharacter(line, 0), pos);
  const text = file.text
    .slice(pos, end)
    .replace(/^\/\*+|\*+\/$|^\/\/+/g, "")
    .replace(/^\s*\*/gm, "");
  return {
    line: line + 1,
    lastLine: file.getLineAndCharacterOfPosition(end).line + 1,
    text: text.replace(/\s+/g, " ").trim(),
    continues: file.text.startsWith("//", pos) && before.trim() === "",
  };
}

function joinLines(parts: readonly Part[]): Comment[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const above = joined.at(-1);
    if (above?.continues && part.continues && above.lastLine + 1 === part.line)
      joined[joined.length - 1] = { ...above, lastLine: part.lastLine, text: `${above.text} ${part.text}` };
    else joined.push(part);
  }
  return joined.map(({ line, text }) => ({ line, text }));
}

/** Phrases that stand where a noun belongs. The exceptions are ordinary English: "so long as", "so many that". */
const PHRASES = [
  /\bso (?:many|much|long|often|far|soon)\b(?!\s+(?:that|as)\b)/i,
  /\b(?:whoever|whomever|whom|anew)\b/i,
  /\bof late\b/i,
  /\bbut for\b/i,
];

/** A sentence that opens with a relative clause instead of its subject; a question may open so. */
const OPENING = /^(?:[-–] )?(?:What|Who|Whoever|Whose)\b/;

/** Returns the unwanted phrases of a comment; an empty list for a good comment. */
export function ticsOf(text: string): string[] {
  const prose = text.replace(/`[^`]*`/g, "`code`").replace(/"[^"]*"/g, '"quoted"');
  const openings = prose
    .split(/(?<=[.!?:;])\s+|(?=@\w+)/)
    .map((sentence) => sentence.replace(/^@param \S+ |^@\w+ /, ""))
    .filter((sentence) => !sentence.endsWith("?"))
    .flatMap((sentence) => sentence.match(OPENING)?.[0] ?? []);
  return [...PHRASES.flatMap((phrase) => prose.match(phrase)?.[0] ?? []), ...openings];
}

/** A test name that opens with a pronoun in place of its subject. */
const NAME_OPENING = /^(?:what|who|whoever|whose|it|those who|nobody|somebody)\b/i;

/** Returns the unwanted phrases of a test name; an empty list for a good name. */
export function ticsOfName(name: string): string[] {
  return [...PHRASES.flatMap((phrase) => name.match(phrase)?.[0] ?? []), ...(name.match(NAME_OPENING) ?? [])];
}
