let probe: HTMLElement | undefined;
const known = new Map<string, string>();

/** What a variable of the styles is now, for a canvas, which knows no variables. */
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

/** The theme has changed. */
export function forgetColours(): void {
  known.clear();
}
