import type { Screen, World } from "../world.ts";

/** What goes on while somebody waits: a line that is wiped away on a terminal, and a plain one elsewhere. */
export class Progress {
  readonly #screen: Screen;
  #isShown = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  say(text: string): void {
    if (this.#screen.isTTY) this.#screen.write(`\r\x1b[2K${text} …`);
    else this.#screen.write(`${text} …\n`);
    this.#isShown = true;
  }

  end(): void {
    if (this.#isShown && this.#screen.isTTY) this.#screen.write("\r\x1b[2K");
    this.#isShown = false;
  }
}

/** On stderr, beside what is printed; nothing for machines. */
export function progressFor({ stderr }: Pick<World, "stderr">, isJson: boolean): Progress {
  return new Progress(isJson ? { write: () => true } : stderr);
}
