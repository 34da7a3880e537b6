import { defineComponent, h, onBeforeUnmount, onMounted, reactive, ref, type VNode, watch } from "vue";
import { chart, nameOf } from "./chart.ts";
import type { Result, Update } from "./messages.ts";
import { AGAINST, DEFAULTS, FAULTS, type Settings, SLIDERS } from "./settings.ts";

/** Delays the run, so that dragging a slider starts only one. */
const DEBOUNCE_MS = 200;

/** Sliders, a chart and a table of figures of a swarm that a worker simulates. */
export const SwarmPlayground = defineComponent({
  name: "SwarmPlayground",
  setup() {
    const settings = reactive<{ -readonly [Name in keyof Settings]: Settings[Name] }>({ ...DEFAULTS });
    const results = ref<readonly Result[]>([]);
    const done = ref(0);
    const status = ref("Starting …");
    let worker: Worker | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;

    function run(): void {
      worker?.terminate();
      worker = new Worker(new URL("./simulate.worker.ts", import.meta.url), { type: "module" });
      worker.onmessage = ({ data }: MessageEvent<Update>) => receive(data);
      worker.onerror = ({ message }) => receive({ type: "error", message });
      done.value = 0;
      status.value = "Simulating …";
      worker.postMessage({ settings: { ...settings } });
    }

    function receive(update: Update): void {
      if (update.type === "progress") {
        done.value = update.done;
        return;
      }
      done.value = 1;
      if (update.type === "error") {
        status.value = `The simulation failed: ${update.message}`;
        return;
      }
      results.value = update.results;
      status.value = `Ten minutes of ${settings.agents} agents, simulated in ${(update.ms / 1_000).toFixed(1)} s.`;
    }

    onMounted(run);
    watch(settings, () => {
      clearTimeout(timer);
      timer = setTimeout(run, DEBOUNCE_MS);
    });
    onBeforeUnmount(() => {
      clearTimeout(timer);
      worker?.terminate();
    });

    const slider = ({ name, label, min, max, step, unit }: (typeof SLIDERS)[number]): VNode =>
      h("label", [
        h("span", [label, ": ", h("b", `${settings[name]}${unit}`)]),
        h("input", {
          ...{ type: "range", name, min, max, step, value: settings[name] },
          onInput: ({ target }: Event) => {
            settings[name] = Number((target as HTMLInputElement).value);
          },
        }),
      ]);

    const choice = <Name extends "fault" | "against">(
      name: Name,
      label: string,
      choices: Readonly<Record<Settings[Name], string>>,
    ): VNode =>
      h("label", { class: "choice" }, [
        h("span", label),
        h(
          "select",
          {
            ...{ name, value: settings[name] },
            onChange: ({ target }: Event) => {
              (settings as Record<Name, Settings[Name]>)[name] = (target as HTMLSelectElement).value as Settings[Name];
            },
          },
          Object.entries<string>(choices).map(([value, text]) => h("option", { value }, text)),
        ),
      ]);

    return () =>
      h("div", { class: "playground" }, [
        h("form", { onSubmit: (event: Event) => event.preventDefault() }, [
          ...SLIDERS.map(slider),
          choice("fault", "Fault in minute 4", FAULTS),
          choice("against", "Compare with", AGAINST),
        ]),
        h("progress", { value: done.value, max: 1, "aria-label": "Progress of the simulation" }),
        h("p", { class: "status", role: "status" }, status.value),
        results.value.length > 0 ? figures(results.value, AGAINST[settings.against]) : undefined,
      ]);
  },
});

function figures(results: readonly Result[], against: string): VNode {
  return h("div", [
    h("ul", { class: "legend" }, [
      ...results.map(({ scheme }, i) => h("li", { class: `curve-${i}` }, nameOf(scheme, against))),
      h("li", { class: "level" }, "level of Hivepace"),
    ]),
    chart(results, against),
    h("table", [
      h(
        "thead",
        h(
          "tr",
          ["", "limit used", "largest window", "refused (429)", "fairness", "wait p50", "wait p99"].map((text) =>
            h("th", { scope: "col" }, text),
          ),
        ),
      ),
      h(
        "tbody",
        results.map((result) =>
          h("tr", { "data-scheme": result.scheme }, [
            h("th", { scope: "row" }, nameOf(result.scheme, against)),
            ...cells(result).map((text) => h("td", text)),
          ]),
        ),
      ),
    ]),
  ]);
}

function cells({ use, max, sent, refused, jain, wait }: Result): string[] {
  return [
    `${(100 * use).toFixed(1)} %`,
    `${(100 * max).toFixed(1)} %`,
    `${refused} (${((100 * refused) / Math.max(1, sent)).toFixed(1)} %)`,
    jain.toFixed(3),
    `${(wait.p50 / 1_000).toFixed(1)} s`,
    `${(wait.p99 / 1_000).toFixed(1)} s`,
  ];
}
