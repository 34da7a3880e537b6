import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { SwarmPlayground } from "../../src/playground/playground.ts";
import "./theme.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("SwarmPlayground", SwarmPlayground);
  },
} satisfies Theme;
