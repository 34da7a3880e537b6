import type { DefaultTheme } from "vitepress";

/** Navigation of the site. A test checks that every page of `docs` is in it. */
export const sidebar: DefaultTheme.SidebarItem[] = [
  group("Start", [
    ["Overview", "/"],
    ["Quick start", "/quick-start"],
    ["429 with parallel agents", "/429-with-parallel-agents"],
    ["How it works", "/how-it-works"],
    ["Recipes", "/recipes"],
    ["Playground", "/playground"],
    ["Observe mode", "/observe"],
  ]),
  group("Configure", [
    ["Choosing a bus", "/choosing-a-bus"],
    ["Choosing limits", "/choosing-limits"],
    ["Clients and SDKs", "/sdks"],
    ["Provider signals", "/provider-signals"],
    ["Store mode", "/store-aggregation"],
    ["The global view", "/global-view"],
    ["Runtimes", "/runtimes"],
  ]),
  group("Production", [
    ["Production checklist", "/production-checklist"],
    ["Guarantees", "/guarantees"],
    ["Failure modes", "/failure-modes"],
    ["Bad days", "/bad-days"],
    ["Operating", "/operating"],
    ["Observability", "/observability"],
    ["Command line", "/command-line"],
    ["Security", "/security"],
    ["Autoscaling", "/autoscaling"],
    ["Serverless", "/serverless"],
    ["Multi-region", "/multi-region"],
  ]),
  group("Compare and migrate", [
    ["Alternatives", "/comparison"],
    ["From bottleneck", "/migrating-from-bottleneck"],
    ["From limiter", "/migrating-from-limiter"],
    ["From rate-limiter-flexible", "/migrating-from-rate-limiter-flexible"],
    ["On real brokers", "/real-brokers"],
  ]),
  group("Internals", [
    ["The algorithm", "/algorithm"],
    ["Wire protocol", "/wire"],
    ["Writing a bus", "/writing-a-bus"],
    ["Decisions", "/decisions/"],
  ]),
];

function group(text: string, pages: readonly (readonly [string, string])[]): DefaultTheme.SidebarItem {
  return { text, collapsed: false, items: pages.map(([title, link]) => ({ text: title, link })) };
}
