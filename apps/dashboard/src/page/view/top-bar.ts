import { clockTime } from "../model/format.ts";
import { h, name, setAttribute, setText } from "./dom.ts";
import { themeButton } from "./theme.ts";
import type { Scene, View } from "./view.ts";

const BUS_TONES = { ready: "good", connecting: "warn", interrupted: "bad", closed: "bad" } as const;

/** Title, namespace, state of the connection and of the bus; and alerts. */
export function topBar(onTheme: () => void): View & { setConnection(isLive: boolean): void } {
  const title = h("h1", {}, "Hivepace");
  const namespace = h("p", { class: "namespace" });
  const [live, bus] = [pill(), pill()];
  const alerts = h("div", { class: "alerts" });
  const [lost, away, trouble] = [alert("bad"), alert("warn"), alert("warn")];
  alerts.append(lost, away, trouble);
  const logo = h("img", { src: "icon.svg", alt: "", width: 40, height: 40 });
  const element = h(
    "header",
    { class: "top" },
    h("div", { class: "brand" }, logo, h("div", {}, title, namespace)),
    h("div", { class: "pills" }, live, bus, themeButton(onTheme)),
    alerts,
  );
  let lastAt: number | undefined;
  const setConnection = (isLive: boolean): void => {
    setPill(live, isLive ? "good" : "bad", isLive ? "Live" : "No connection");
    const since = lastAt === undefined ? "" : ` What you see is from ${clockTime(lastAt)}.`;
    setAlert(lost, isLive ? undefined : `No connection to the dashboard: trying again.${since}`);
    document.documentElement.classList.toggle("is-stale", !isLive && lastAt !== undefined);
  };
  setPill(live, "warn", "Connecting");
  return {
    element,
    setConnection,
    draw({ state: { hello, frame } }: Scene) {
      lastAt = frame.at;
      setText(title, hello.title);
      if (document.title !== hello.title) document.title = hello.title;
      const label = hello.namespace === "" ? [] : ["Namespace ", name(hello.namespace)];
      if (namespace.childNodes.length !== label.length) namespace.replaceChildren(...label);
      setPill(bus, BUS_TONES[frame.bus], `Bus ${frame.bus}`);
      const isAway = frame.bus !== "ready";
      setAlert(away, isAway ? `The bus is ${frame.bus}: the figures are those that were heard last.` : undefined);
      setAlert(trouble, frame.trouble === undefined ? undefined : `Not everything could be read: ${frame.trouble}`);
    },
  };
}

function pill(): HTMLElement {
  return h("span", { class: "pill" }, h("span", { class: "dot", "aria-hidden": "true" }), h("span"));
}

function setPill(element: HTMLElement, tone: string, text: string): void {
  setAttribute(element, "data-tone", tone);
  setText(element.lastElementChild as Element, text);
}

const alert = (tone: string): HTMLElement =>
  h("p", { class: "alert", role: "status", "data-tone": tone, hidden: true });

function setAlert(element: HTMLElement, text: string | undefined): void {
  setText(element, text ?? "");
  element.hidden = text === undefined;
}
