import { h } from "./dom.ts";

/** Longer names are split, and lose their middle where space is short. */
const LONG = 14;
const TAIL = 8;
/** Scripts whose letters would change their shape at the split. */
const JOINED = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Thai}]/u;

/**
 * Renders a foreign name with an ellipsis in the middle where it does not fit, because names of pods and regions differ
 * at their ends. The text and the title contain the whole name.
 */
export function longName(data: string, className = "data", tail = TAIL): HTMLElement {
  const characters = [...data];
  if (characters.length <= LONG || JOINED.test(data))
    return h("bdi", { class: `${className} long-name`, title: data }, h("span", {}, data));
  return h(
    "bdi",
    { class: `${className} long-name`, title: data },
    h("span", { class: "long-name-head" }, characters.slice(0, -tail).join("")),
    h("span", { class: "long-name-tail" }, characters.slice(-tail).join("")),
  );
}

/** Shortens a name to at most `longest` characters, for places that take only text. */
export function shortened(data: string, longest: number): string {
  const characters = [...data];
  if (characters.length <= longest) return data;
  const tail = Math.floor((longest - 1) / 2);
  return `${characters.slice(0, longest - 1 - tail).join("")}…${characters.slice(-tail).join("")}`;
}
