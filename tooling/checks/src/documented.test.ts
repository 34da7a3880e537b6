import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { publicEntries } from "./entries.ts";
import { root } from "./workspace.ts";

test("everything that a package exports has a comment of its own", () => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(
    publicEntries.map(({ source }) => source),
    options,
  );
  const checker = program.getTypeChecker();
  const silent = publicEntries.flatMap(({ name, source }) =>
    exportsOf(program.getSourceFile(source), checker)
      .filter((symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim() === "")
      .map((symbol) => `${name}: ${symbol.name}`),
  );
  expect(silent).toEqual([]);
});

function exportsOf(file: ts.SourceFile | undefined, checker: ts.TypeChecker): ts.Symbol[] {
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error("an entry that is no module");
  const found = checker.getExportsOfModule(module);
  return found.map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
}
