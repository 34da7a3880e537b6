import { type Clock, systemClock } from "@hivepace/core";
import { checkKnown, need, type OptionNames } from "@hivepace/core/internal";
import type { SwarmObserver } from "@hivepace/distributed";
import type { Control, DashboardOptions, EndpointUsage, ProviderFacts } from "./dashboard-types.ts";

/** Options with all defaults applied. */
export interface Settings {
  readonly observer: SwarmObserver;
  readonly title: string;
  readonly host: string;
  readonly port: number;
  readonly provider: () => ProviderFacts | undefined;
  readonly globalUsage: (() => readonly EndpointUsage[]) | undefined;
  readonly controls: readonly Control[];
  readonly clock: Clock;
}

const defaultDashboardOptions = Object.freeze({ title: "Hivepace", host: "127.0.0.1", port: 0 } as const);

const LONGEST_TITLE = 200;
const CONTROL_ID = /^[A-Za-z0-9-]{1,64}$/;

const OPTIONS = {
  observer: true,
  title: true,
  host: true,
  port: true,
  provider: true,
  globalUsage: true,
  controls: true,
  clock: true,
} as const satisfies OptionNames<DashboardOptions>;

export function settingsOf(options: DashboardOptions): Settings {
  checkKnown(options, OPTIONS);
  const { observer, controls = [], provider, globalUsage, clock = systemClock } = options;
  const { title = defaultDashboardOptions.title, host = defaultDashboardOptions.host } = options;
  const { port = defaultDashboardOptions.port } = options;
  need(isFunction(observer?.snapshot) && isFunction(observer.onEvent), "observer", "a SwarmObserver", observer);
  const isTitle = isText(title) && title.length <= LONGEST_TITLE;
  need(isTitle, "title", `a string of 1 to ${LONGEST_TITLE} characters`, title);
  need(isText(host) && /^\S+$/.test(host), "host", "the name or the address of an interface", host);
  need(Number.isInteger(port) && port >= 0 && port <= 65_535, "port", "a whole number from 0 to 65535", port);
  need(provider === undefined || isFunction(provider), "provider", "a function", provider);
  need(globalUsage === undefined || isFunction(globalUsage), "globalUsage", "a function", globalUsage);
  const isClock = isFunction(clock?.now) && isFunction(clock.epochMs) && isFunction(clock.after);
  need(isClock, "clock", "a Clock", clock);
  need(Array.isArray(controls), "controls", "an array", controls);
  const ids = new Set<string>();
  for (const [i, control] of controls.entries()) {
    checkControl(control, `controls[${i}]`);
    need(!ids.has(control.id), `controls[${i}].id`, "one that no other control has", control.id);
    ids.add(control.id);
  }
  return Object.freeze({
    observer,
    title,
    host,
    port,
    provider: provider ?? (() => undefined),
    globalUsage,
    controls: Object.freeze([...controls]),
    clock,
  });
}

function checkControl(control: Control, name: string): void {
  need(typeof control === "object" && control !== null, name, "an object", control);
  const isId = typeof control.id === "string" && CONTROL_ID.test(control.id);
  need(isId, `${name}.id`, "1 to 64 letters, digits and hyphens", control.id);
  need(isText(control.label), `${name}.label`, "a string that is not empty", control.label);
  need(typeof control.about === "string", `${name}.about`, "a string", control.about);
  need(isFunction(control.run), `${name}.run`, "a function", control.run);
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";
