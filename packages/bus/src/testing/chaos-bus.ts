import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { type BusDriver, type BusEvents, DriverBus, type MessageBus } from "../index.ts";
import { RelayDriver } from "../relay-driver.ts";

/** What goes wrong. May be changed at any time; nothing goes wrong by default. */
export interface Chaos {
  /** The share of deliveries that are lost: 0 to 1. */
  drop: number;
  /** The share that comes twice. */
  duplicate: number;
  /** How long a delivery takes, in milliseconds: anything between the two. The order stays. */
  delay: readonly [min: number, max: number];
  /** The share that is held back by up to ten times the longest delay (at least 10 ms), and passed by others. */
  reorder: number;
  /** Cut off without knowing it: what is published goes nowhere, and nothing arrives. */
  partition: boolean;
}

/** What goes wrong from the start on, and the seed of it. */
export interface ChaosOptions extends Partial<Chaos> {
  /** The same seed, on the same messages, makes the same trouble. */
  seed: number;
  clock?: Clock | undefined;
}

/** A bus on which things go wrong; `chaos` changes what, while it runs. */
export interface ChaosBus extends MessageBus {
  readonly chaos: Chaos;
}

const CALM: Chaos = { drop: 0, duplicate: 0, delay: [0, 0], reorder: 0, partition: false };

class ChaosDriver extends RelayDriver {
  readonly #chaos: Chaos;
  readonly #random: () => number;
  readonly #clock: Clock;
  readonly #underway = new Set<() => void>();
  #lastArrival = 0;

  constructor(bus: MessageBus, events: BusEvents, chaos: Chaos, random: () => number, clock: Clock) {
    super(bus, events);
    this.#chaos = chaos;
    this.#random = random;
    this.#clock = clock;
  }

  override async publish(subject: string, payload: Uint8Array): Promise<void> {
    if (!this.#chaos.partition) await super.publish(subject, payload);
  }

  override async close(): Promise<void> {
    for (const cancel of this.#underway) cancel();
    this.#underway.clear();
    await super.close();
  }

  protected override receive(subject: string, payload: Uint8Array): void {
    const { drop, duplicate, delay, reorder, partition } = this.#chaos;
    // Always as many numbers for a message, so that one setting does not change what another does.
    const [lost, twice, slow, held, heldFor] = Array.from({ length: 5 }, this.#random) as [
      number,
      number,
      number,
      number,
      number,
    ];
    if (partition || lost < drop) return;
    const [min, max] = delay;
    const now = this.#clock.now();
    const arrival = Math.max(this.#lastArrival, now + min + slow * (max - min));
    const isHeld = held < reorder;
    if (!isHeld) this.#lastArrival = arrival;
    const wait = arrival - now + (isHeld ? heldFor * Math.max(10, 10 * max) : 0);
    for (let copies = twice < duplicate ? 2 : 1; copies > 0; copies--) this.#arrive(wait, subject, payload);
  }

  #arrive(wait: number, subject: string, payload: Uint8Array): void {
    if (wait <= 0) {
      super.receive(subject, payload);
      return;
    }
    const cancel = this.#clock.after(
      wait,
      () => {
        this.#underway.delete(cancel);
        if (!this.#chaos.partition) super.receive(subject, payload);
      },
      { background: true },
    );
    this.#underway.add(cancel);
  }
}

/** A bus on which messages are lost, doubled, late and out of order, the same way every time for the same seed. */
export function chaosBus(bus: MessageBus, options: ChaosOptions): ChaosBus {
  const { seed, clock = systemClock, ...wanted } = options;
  const chaos = { ...CALM, ...wanted };
  for (const option of ["drop", "duplicate", "reorder"] as const)
    if (!(chaos[option] >= 0 && chaos[option] <= 1)) throw new InvalidConfigError(option, "from 0 to 1", chaos[option]);
  const [min, max] = chaos.delay;
  if (!(min >= 0 && max >= min && max < Infinity))
    throw new InvalidConfigError("delay", "two finite numbers of 0 or more, the smaller first", chaos.delay);
  if (!Number.isInteger(seed)) throw new InvalidConfigError("seed", "a whole number", seed);
  const random = seededRandom(seed);
  const driver = (events: BusEvents): BusDriver => new ChaosDriver(bus, events, chaos, random, clock);
  return Object.assign(new DriverBus(driver, bus.state), { chaos });
}
