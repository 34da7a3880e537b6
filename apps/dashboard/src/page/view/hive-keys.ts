/**
 * Keyboard navigation: the hive is one Tab stop; arrow keys move to the nearest cell in their direction, Home and End
 * to the first and last.
 */
export function hiveKeys(list: HTMLElement): { update(): void } {
  const buttons = (): HTMLButtonElement[] => [...list.querySelectorAll("button")];
  const stopAt = (button: HTMLButtonElement | undefined): void => {
    for (const other of list.querySelectorAll<HTMLButtonElement>('button[tabindex="0"]'))
      if (other !== button) other.tabIndex = -1;
    if (button !== undefined) button.tabIndex = 0;
  };
  list.addEventListener("focusin", ({ target }) => stopAt(target as HTMLButtonElement));
  list.addEventListener("keydown", (event) => {
    const to = target(event.key, event.target as HTMLButtonElement, buttons());
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
  });
  return {
    update() {
      if (list.querySelector('button[tabindex="0"]') === null) stopAt(buttons()[0]);
    },
  };
}

function target(key: string, from: HTMLButtonElement, all: readonly HTMLButtonElement[]) {
  const index = all.indexOf(from);
  if (key === "Home") return all[0];
  if (key === "End") return all.at(-1);
  if (key === "ArrowRight") return all[index + 1];
  if (key === "ArrowLeft") return all[index - 1];
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const here = from.getBoundingClientRect();
  const sign = key === "ArrowDown" ? 1 : -1;
  // The next row is three quarters of a cell away, shifted by half a cell.
  return all.find((one) => {
    const there = one.getBoundingClientRect();
    const down = (there.top - here.top) * sign;
    return down > here.height / 2 && down < here.height && Math.abs(there.left - here.left) < here.width * 0.75;
  });
}
