type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
type Child = Node | string;

/** An element. Children that are strings become text and never markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children);
  return element;
}

/** Absent when undefined or false. Touches nothing that is so already. */
export function setAttribute(element: Element, name: string, value: Attributes[string]): void {
  if (value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setVariable(element: HTMLElement, name: string, value: string): void {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}

/** Makes these the children, and moves none that is in its place already. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  children.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
  });
  while (parent.children.length > children.length) parent.lastElementChild?.remove();
}

/** What others wrote, set apart from the text around it, whichever way it is read. */
export const name = (data: string, className = "data"): HTMLElement => h("bdi", { class: className }, data);

/** A part of the page with its heading. */
export function card(id: string, title: string, ...children: readonly Child[]): HTMLElement {
  return h(
    "section",
    { class: `card card-${id}`, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    ...children,
  );
}
