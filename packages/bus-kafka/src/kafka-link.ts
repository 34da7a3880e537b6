import {
  isRefused,
  type KafkaAdmin,
  type KafkaBatch,
  type KafkaConsumer,
  type KafkaPart,
  type KafkaProducer,
  type LinkClient,
} from "./client.ts";
import type { OffsetRange } from "./inbox.ts";
import { SendQueue } from "./send-queue.ts";
import { fetchRange, openTopic, PARTITION } from "./topic.ts";
import { deferred, within } from "./waiting.ts";

/**
 * Milliseconds after which the broker answers an empty fetch; closing waits at most this long for the fetch in flight.
 */
const FETCH_WAIT_MS = 500;
/** Seconds without a fetch before the broker counts as away. The broker normally answers a fetch twice a second. */
const SILENT_SECONDS = 4;
const PRODUCE_TIMEOUT_MS = 5_000;
const GOODBYE_MS = 3_000;

export interface LinkOptions {
  readonly topic: string;
  readonly group: string;
  readonly createTopic: boolean;
  readonly batch: (batch: KafkaBatch) => void;
  /**
   * Returns the first offset not handled yet. Called at every join; without a seek kafkajs would choose an offset
   * itself.
   */
  readonly next: () => number;
}

/**
 * One incarnation of the connection: a producer, a consumer in its own group, and an admin client. A link is opened
 * once and lost at the first failure; the next link is a new object. The recovery of kafkajs is not used, because it
 * loses messages and lets groups wait for members that no longer exist.
 */
export class KafkaLink {
  readonly #client: LinkClient;
  readonly #options: LinkOptions;
  readonly #admin: KafkaAdmin;
  readonly #producer: KafkaProducer;
  readonly #consumer: KafkaConsumer;
  readonly #queue: SendQueue;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #lost = deferred<unknown>();
  #nextEnd: Promise<number> | undefined;
  #lastEnd: Promise<unknown> = Promise.resolve();
  #isJoined = false;
  #isLost = false;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor(client: LinkClient, options: LinkOptions) {
    this.#client = client;
    this.#options = options;
    const retry = { retries: 0 };
    const common = { allowAutoTopicCreation: false };
    this.#admin = client.kafka.admin({ retry });
    this.#producer = client.kafka.producer({
      ...common,
      retry,
      maxInFlightRequests: 1,
      createPartitioner: () => () => PARTITION,
    });
    this.#consumer = client.kafka.consumer({
      ...common,
      groupId: options.group,
      // Tolerates a busy process. No other member of the group would have to wait for a rebalance.
      sessionTimeout: 30_000,
      rebalanceTimeout: 30_000,
      heartbeatInterval: 3_000,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      retry: { ...retry, restartOnFailure: async () => false },
    });
    this.#queue = new SendQueue((values) => this.#send(values));
  }

  /** Resolves with the reason when the link is lost. */
  get lost(): Promise<unknown> {
    return this.#lost.promise;
  }

  get group(): string {
    return this.#options.group;
  }

  /** Connects to the broker; resolves with the offsets of the topic. */
  async reach(): Promise<OffsetRange> {
    for (const part of this.#parts())
      part.on(part.events.REQUEST_TIMEOUT, () => this.lose(new Error("a request timed out")));
    // The admin client connects first, so that wrong credentials are refused once and not three times.
    await this.#track(this.#admin.connect());
    const { topic, createTopic } = this.#options;
    const [range] = await Promise.all([
      this.#track(openTopic(this.#admin, topic, createTopic)),
      this.#track(this.#producer.connect()),
      this.#track(this.#consumer.connect()),
    ]);
    return range;
  }

  /** Joins the group; resolves when no message published from then on is missed. */
  async join(): Promise<void> {
    const { topic, batch, next } = this.#options;
    const consumer = this.#consumer;
    consumer.on(consumer.events.CRASH, ({ payload }) => this.lose((payload as { error: unknown }).error));
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      const { memberAssignment } = payload as { memberAssignment: Record<string, number[]> };
      const others = (memberAssignment[topic] ?? []).filter((partition) => partition !== PARTITION);
      if (others.length > 0) consumer.pause([{ topic, partitions: others }]);
      consumer.seek({ topic, partition: PARTITION, offset: String(next()) });
      this.#isJoined = true;
    });
    // If kafkajs ever chose the offset itself, records would be repeated, which the inbox drops, instead of lost.
    await this.#track(consumer.subscribe({ topic, fromBeginning: true }));
    const eachBatch = async (payload: { readonly batch: KafkaBatch }): Promise<void> => {
      if (!this.#isLost && payload.batch.partition === PARTITION) batch(payload.batch);
    };
    // `run` resolves after the join, and also after a crash during the join.
    await this.#track(consumer.run({ autoCommit: false, eachBatch }));
    if (!this.#isJoined) throw await this.lost;
    this.#watchFetches();
  }

  /** Sends one record. Rejects when the broker refuses it, or as soon as the link is lost. */
  send(value: Buffer): Promise<void> {
    return this.#queue.push(value);
  }

  /** Returns the offset that the next record will get. Calls made during a request share the request after it. */
  end(): Promise<number> {
    if (this.#nextEnd === undefined) {
      this.#nextEnd = this.#track(this.#lastEnd.then(() => this.#askEnd()));
      this.#lastEnd = this.#nextEnd.catch(() => {});
    }
    return this.#nextEnd;
  }

  /** Marks the link as lost and rejects its pending records. */
  lose(reason: unknown): void {
    this.#isLost = true;
    clearInterval(this.#watch);
    this.#queue.end(reason);
    this.#lost.resolve(reason);
  }

  /** Deletes the consumer groups and disconnects; if the broker does not answer, ends within bounded time. */
  async close(groups: string[]): Promise<void> {
    if (this.#isJoined && !this.#isLost) {
      this.lose(new Error("the link is closed"));
      await within(GOODBYE_MS, this.#sayGoodbye(groups), "the broker did not answer").catch(() => {});
    }
    await this.abandon();
  }

  /** Disconnects without notifying the broker. A lent client cannot be cut, so its operations in flight are awaited. */
  async abandon(): Promise<void> {
    this.lose(new Error("the link is abandoned"));
    this.#client.cut();
    await Promise.allSettled(this.#parts().map((part) => part.disconnect()));
    await Promise.allSettled([...this.#underWay]);
    await Promise.allSettled(this.#parts().map((part) => part.disconnect()));
  }

  async #askEnd(): Promise<number> {
    this.#nextEnd = undefined;
    if (this.#isLost) throw new Error("the link is lost");
    try {
      return (await fetchRange(this.#admin, this.#options.topic)).high;
    } catch (error) {
      this.lose(error);
      throw error;
    }
  }

  async #sayGoodbye(groups: string[]): Promise<void> {
    await Promise.allSettled([this.#consumer.disconnect(), this.#lastEnd]);
    await this.#admin.deleteGroups(groups).catch(() => {});
    await Promise.allSettled([this.#admin.disconnect(), this.#producer.disconnect()]);
  }

  #parts(): readonly KafkaPart[] {
    return [this.#admin, this.#producer, this.#consumer];
  }

  async #send(values: Buffer[]): Promise<void> {
    const messages = values.map((value) => ({ value, partition: PARTITION }));
    const batch = { topic: this.#options.topic, acks: -1, timeout: PRODUCE_TIMEOUT_MS, messages };
    try {
      await this.#track(this.#producer.send(batch));
    } catch (error) {
      if (!isRefused(error)) this.lose(error);
      throw error;
    }
  }

  /**
   * Detects a silent broker. Counting timer ticks instead of measuring time keeps a blocked process from suspecting the
   * broker.
   */
  #watchFetches(): void {
    if (this.#isLost) return;
    let silent = 0;
    this.#consumer.on(this.#consumer.events.REQUEST, ({ payload }) => {
      if ((payload as { apiName: string }).apiName === "Fetch") silent = 0;
    });
    this.#watch = setInterval(() => {
      if (++silent > SILENT_SECONDS) this.lose(new Error(`the broker did not answer for ${SILENT_SECONDS} seconds`));
    }, 1_000);
    this.#watch.unref();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = (): void => void this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }
}
