import { show, warn } from "@hivepace/core/internal";

/** Bounds the memory for ids that a warning was emitted for: generated routes must not fill the memory. */
const MOST_REMEMBERED = 1_000;

/** Warns once about each id in a route that is not an endpoint. */
export class UnknownEndpoints {
  readonly #warned = new Set<string>();

  warn(id: string, known: readonly string[]): void {
    if (this.#warned.has(id) || this.#warned.size >= MOST_REMEMBERED) return;
    this.#warned.add(id);
    const message = `a route names ${show(id)}, which is no endpoint, and goes without it; known are ${known.map(show).join(", ")}`;
    warn("HIVEPACE_UNKNOWN_ENDPOINT", message);
  }
}
