import type { FanOut } from "./fan-out.ts";
import { frameOf } from "./frame.ts";
import { type History, POINT_MS } from "./history.ts";
import type { Settings } from "./options.ts";
import type { Frame } from "./wire.ts";

/** Pages are updated twice a second, and less often when updates would exceed this rate. */
const UPDATE_MS = 500;
const MAX_CHARACTERS_PER_MS = 500;

/** Reads the swarm: once a second for the history, and for every update of the pages, when any are open. */
export class Ticker {
  readonly #settings: Settings;
  readonly #history: History;
  readonly #pages: FanOut;
  #frame: Frame;
  #cancel: () => void = () => {};
  #pointAt: number;
  #sendAt: number;

  constructor(settings: Settings, history: History, pages: FanOut) {
    [this.#settings, this.#history, this.#pages] = [settings, history, pages];
    this.#frame = frameOf(settings, undefined);
    this.#history.add(this.#frame);
    const now = settings.clock.now();
    [this.#pointAt, this.#sendAt] = [now + POINT_MS, now];
    this.#arm();
  }

  /** Reads the current state. */
  read(): Frame {
    this.#frame = frameOf(this.#settings, this.#frame);
    return this.#frame;
  }

  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
  }

  #arm(): void {
    this.#cancel = this.#settings.clock.after(UPDATE_MS, () => this.#tick(), { background: true });
  }

  #tick(): void {
    this.#arm();
    const now = this.#settings.clock.now();
    const [isPoint, isSent] = [now >= this.#pointAt, this.#pages.size > 0 && now >= this.#sendAt];
    if (!isPoint && !isSent) return;
    const frame = this.read();
    if (isPoint) {
      this.#history.add(frame);
      // After a pause of the process, points continue from now.
      this.#pointAt = (this.#pointAt + POINT_MS > now ? this.#pointAt : now) + POINT_MS;
    }
    if (isSent) this.#sendAt = now + this.#pages.send(frame) / MAX_CHARACTERS_PER_MS;
  }
}
