import type { Screen, World } from "../world.ts";

/** Shows progress while the user waits: a line that is erased on a terminal, and a plain line elsewhere. */
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

/** Creates a progress display on stderr; with `isJson` nothing is printed. */
export function progressFor({ stderr }: Pick<World, "stderr">, isJson: boolean): Progress {
  return new Progress(isJson ? { write: () => true } : stderr);
}
