import { messageOf } from "@hivepace/core/internal";
import { pause } from "../abortable.ts";
import type { Endpoint } from "./endpoints.ts";
import { type OpenRedis, openRedis, type RedisPlace } from "./open-redis.ts";
import { type Reader, readUsage, type Usage } from "./usage.ts";

const EVERY_MS = 1_000;

export interface PollOptions extends Omit<Reader, "store"> {
  readonly place: RedisPlace;
  /** Returns the endpoints to read. Called before every reading, because agents may introduce new ones. */
  readonly endpoints: () => readonly Endpoint[];
  /** Called with a sentence when Redis becomes unreachable, and when it is reachable again. */
  readonly tell: (sentence: string) => void;
}

/** Reads the counts of all instances once a second, and survives outages of Redis. */
export class UsagePoll {
  readonly #options: PollOptions;
  #usages: readonly Usage[] = [];
  #readAt = -Infinity;
  #failure: string | undefined;

  constructor(options: PollOptions) {
    this.#options = options;
  }

  get usages(): readonly Usage[] {
    return this.#usages;
  }

  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(): Promise<void> {
    const { place, endpoints, namespace, windowMs } = this.#options;
    let redis: OpenRedis | undefined;
    do {
      try {
        redis ??= await openRedis(place);
        const reading = await readUsage({ store: await redis.store(), namespace, windowMs }, endpoints());
        this.#usages = reading.endpoints;
        this.#readAt = performance.now();
        this.#note(undefined);
      } catch (error) {
        redis?.close();
        redis = undefined;
        if (!place.signal.aborted) this.#note(messageOf(error));
      }
    } while (!(await pause(EVERY_MS, place.signal)));
    redis?.close();
  }

  #note(failure: string | undefined): void {
    const { tell } = this.#options;
    if (failure !== undefined && this.#failure === undefined) tell(`${failure}; retrying every second`);
    if (failure === undefined && this.#failure !== undefined) tell("Redis answers again");
    this.#failure = failure;
  }
}
