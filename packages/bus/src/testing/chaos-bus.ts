import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { type BusDriver, type BusEvents, DriverBus, type MessageBus } from "../index.ts";
import { RelayDriver } from "../relay-driver.ts";

/** Faults to inject. Every field may be changed at any time; by default no faults are injected. */
export interface Chaos {
  /**
   * The share of deliveries that are lost: 0 to 1.
   *
   * @defaultValue 0
   */
  drop: number;
  /**
   * The share of deliveries that are repeated: 0 to 1.
   *
   * @defaultValue 0
   */
  duplicate: number;
  /**
   * Bounds of the delay of a delivery, in milliseconds. Delayed messages keep their order.
   *
   * @defaultValue [0, 0]
   */
  delay: readonly [min: number, max: number];
  /**
   * The share of deliveries, 0 to 1, that are held back by up to ten times the longest delay (at least 10 ms), so that
   * later messages overtake them.
   *
   * @defaultValue 0
   */
  reorder: number;
  /**
   * Cuts the instance off without a change of state: messages are dropped in both directions.
   *
   * @defaultValue false
   */
  partition: boolean;
}

/** The initial faults, and the seed of the random numbers. */
export interface ChaosOptions extends Partial<Chaos> {
  /** An integer. Equal seeds inject equal faults into equal messages. */
  seed: number;
  /**
   * Source of time for delays.
   *
   * @defaultValue the system clock
   */
  clock?: Clock | undefined;
}

/** A bus with injected faults; the fields of `chaos` may be changed while the bus runs. */
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
    // Every message draws the same count of random numbers, so that one setting does not change the effect of another.
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

/**
 * Wraps a bus and loses, repeats, delays and reorders its messages, reproducibly for a given seed.
 *
 * @throws InvalidConfigError when an option is out of range.
 */
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
