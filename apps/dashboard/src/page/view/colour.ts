let probe: HTMLElement | undefined;
const known = new Map<string, string>();

/** Resolves a CSS variable to a colour, because a canvas cannot use variables. */
export function colour(variable: string): string {
  const found = known.get(variable);
  if (found !== undefined) return found;
  if (probe === undefined) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${variable})`;
  const value = getComputedStyle(probe).color;
  known.set(variable, value);
  return value;
}

/** Clears the cache after a change of theme. */
export function forgetColours(): void {
  known.clear();
}
