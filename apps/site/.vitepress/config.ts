import { defaultClientConditions, defaultServerConditions } from "vite";
import { type DefaultTheme, defineConfig, type MarkdownOptions } from "vitepress";
// VitePress bundles relative imports of this file; a bare import of TypeScript would need a newer Node.
import { slug } from "../../../tooling/checks/src/markdown.ts";
import { siteLink } from "../src/rewrite-links.ts";
import { sidebar } from "../src/sidebar.ts";

type Markdown = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

/** Packages are bundled from source, so that the playground runs the code of this checkout. */
const SOURCE = "@hivepace/source";

const base = process.env["DOCS_BASE"] ?? "/";

export default defineConfig({
  title: "Hivepace",
  description:
    "Many agents, one account, one pace: one rate limit for all of your processes, without 429s and retry storms.",
  lang: "en",
  srcDir: "../../docs",
  srcExclude: ["api/**", ".cache/**"],
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  base,
  head: [["link", { rel: "icon", href: `${base}logo.svg`, type: "image/svg+xml" }]],
  cleanUrls: true,
  // The API reference is copied into the site after the build.
  ignoreDeadLinks: [/^\/api\//],
  markdown: { anchor: { slugify: slug }, config: rewriteLinks },
  themeConfig: {
    logo: "/logo.svg",
    nav: [
      { text: "Guide", link: "/quick-start" },
      { text: "Recipes", link: "/recipes" },
      { text: "Playground", link: "/playground" },
      { text: "API", link: "/api/index.html", target: "_self" },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: "https://github.com/hivepace/hivepace" }],
    editLink: { pattern: "https://github.com/hivepace/hivepace/edit/main/docs/:path", text: "Edit this page" },
    footer: { message: "MIT licensed" },
  } satisfies DefaultTheme.Config,
  transformPageData(page) {
    if (page.relativePath === "index.md") Object.assign(page.frontmatter, home);
  },
  vite: {
    publicDir: new URL("../public", import.meta.url).pathname,
    resolve: {
      conditions: [SOURCE, ...defaultClientConditions],
      // The simulator's pure engine uses none of these; the objects that it does not run import them.
      alias: {
        "node:crypto": new URL("../src/playground/no-node.ts", import.meta.url).pathname,
        "node:fs": new URL("../src/playground/no-node.ts", import.meta.url).pathname,
        "node:path": new URL("../src/playground/no-node.ts", import.meta.url).pathname,
        "node:os": new URL("../src/playground/no-node.ts", import.meta.url).pathname,
      },
    },
    ssr: { resolve: { conditions: [SOURCE, ...defaultServerConditions] } },
    worker: { format: "es" },
    build: { chunkSizeWarningLimit: 1_500 },
  },
});

const home = {
  layout: "home",
  hero: {
    name: "Hivepace",
    image: { src: "/logo.svg", alt: "" },
    text: "Many agents, one account, one pace",
    tagline:
      "One rate limit for all of your processes. Decisions in memory, agreement over the broker you already run, one cut for one 429.",
    actions: [
      { theme: "brand", text: "Quick start", link: "/quick-start" },
      { theme: "alt", text: "Playground", link: "/playground" },
      { theme: "alt", text: "GitHub", link: "https://github.com/hivepace/hivepace" },
    ],
  },
  features: [
    {
      title: "One limit",
      details: "All agents together stay within the limit of every window and share it fairly.",
      link: "/guarantees",
    },
    {
      title: "No network before a call",
      details: "Every decision is local. A broker that is away delays nothing.",
      link: "/how-it-works",
    },
    {
      title: "No retry storm",
      details: "One 429 slows all agents down once, and all recover together.",
      link: "/429-with-parallel-agents",
    },
  ],
};

/** Converts links that lead out of `docs` to links to the repository. */
function rewriteLinks(md: Markdown): void {
  md.core.ruler.push("site-links", ({ tokens, env }) => {
    for (const { children } of tokens)
      for (const token of children ?? []) {
        const href = token.type === "link_open" ? token.attrGet("href") : null;
        if (href) token.attrSet("href", siteLink(sourceOf(env.relativePath), href));
      }
  });
}

/** Returns the document of a page. */
function sourceOf(page: string): string {
  return page.replace(/(^|\/)index\.md$/, "$1README.md");
}
