import { h, setAttribute, setText } from "./dom.ts";

const KEY = "hivepace-theme";
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const next = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;

/** Switches between the system's theme, light and dark; the choice is stored in the browser. */
export function themeButton(onTheme: () => void): HTMLElement {
  const button = h("button", { class: "quiet", type: "button" });
  let theme = stored();
  const apply = (): void => {
    setAttribute(document.documentElement, "data-theme", theme === "auto" ? undefined : theme);
    setText(button, `Theme: ${theme}`);
    setAttribute(button, "title", `Change to ${next(theme)}`);
  };
  button.addEventListener("click", () => {
    theme = next(theme);
    store(theme);
    apply();
    onTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onTheme);
  apply();
  return button;
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === value) ?? "auto";
  } catch {
    return "auto";
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice is lost when storage is blocked.
  }
}
