/**
 * Generates the API reference from the types and their comments: `docs/api/index.html`, which git ignores. Exits with 1
 * when something does not compile or a comment has a dead link.
 */
import { join, relative } from "node:path";
import { Application, type ProjectReflection } from "typedoc";
import { publicEntries } from "./entries.ts";
import { root } from "./workspace.ts";

const app = await Application.bootstrap({
  name: "Hivepace",
  entryPoints: publicEntries.map(({ source }) => source),
  tsconfig: join(root, "tooling/checks/tsconfig.api.json"),
  basePath: root,
  readme: "none",
  // Types that are not exported, such as the shape of a client's part, are documented where they are used.
  validation: { notExported: false, invalidLink: true, rewrittenLink: true },
  treatWarningsAsErrors: true,
  disableGit: true,
  sourceLinkTemplate: "https://github.com/hivepace/hivepace/blob/main/{path}#L{line}",
  excludePrivate: true,
  excludeInternal: true,
  searchInComments: true,
});

const project = await app.convert();
if (project) {
  nameModules(project);
  app.validate(project);
}
const isBroken = !project || app.logger.hasErrors() || app.logger.hasWarnings();
if (!isBroken) await app.generateDocs(project, join(root, "docs/api"));
process.exitCode = isBroken || app.logger.hasErrors() ? 1 : 0;

/** Names modules by their import specifiers instead of their files. */
function nameModules({ children = [] }: ProjectReflection): void {
  const names = new Map(publicEntries.map(({ name, source }) => [relative(root, source), name]));
  for (const module of children) {
    const name = names.get(String(module.sources?.[0]?.fullFileName && relative(root, module.sources[0].fullFileName)));
    if (name === undefined) throw new Error(`no entry has the module ${module.name}`);
    module.name = name;
  }
}
