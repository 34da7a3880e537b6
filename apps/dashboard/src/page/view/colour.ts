let probe: HTMLElement | undefined;

/** What a variable of the styles is now, for a canvas, which knows no variables. */
export function colour(variable: string): string {
  if (probe === undefined) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${variable})`;
  return getComputedStyle(probe).color;
}
