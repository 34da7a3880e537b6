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

/** An empty fetch is answered after so long: also the longest that a close waits for the one under way. */
const FETCH_WAIT_MS = 500;
/** The broker answers a fetch at least twice a second; after so many seconds without, it is away. */
const SILENT_SECONDS = 4;
const PRODUCE_TIMEOUT_MS = 5_000;
const GOODBYE_MS = 3_000;

export interface LinkOptions {
  readonly topic: string;
  readonly group: string;
  readonly createTopic: boolean;
  readonly batch: (batch: KafkaBatch) => void;
  /** The first offset not handled yet: asked at every join, or kafkajs would begin again at one of its own choice. */
  readonly next: () => number;
}

/**
 * One life of the connection: a producer, a consumer in a group of its own, an admin. It is opened once and, at the
 * first sign that something is wrong, lost; the next is a new one. kafkajs's own ways of recovery are not used: with
 * them messages get lost and groups wait for members that are gone.
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
      // Long enough for a process that is busy: the group has no other member who would wait for it.
      sessionTimeout: 30_000,
      rebalanceTimeout: 30_000,
      heartbeatInterval: 3_000,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      retry: { ...retry, restartOnFailure: async () => false },
    });
    this.#queue = new SendQueue((values) => this.#send(values));
  }

  /** Resolves with the reason. */
  get lost(): Promise<unknown> {
    return this.#lost.promise;
  }

  get group(): string {
    return this.#options.group;
  }

  /** Resolves with the topic's offsets, when the broker has let us in. */
  async reach(): Promise<OffsetRange> {
    for (const part of this.#parts())
      part.on(part.events.REQUEST_TIMEOUT, () => this.lose(new Error("a request timed out")));
    // Alone first: credentials that are refused should be refused once.
    await this.#track(this.#admin.connect());
    const { topic, createTopic } = this.#options;
    const [range] = await Promise.all([
      this.#track(openTopic(this.#admin, topic, createTopic)),
      this.#track(this.#producer.connect()),
      this.#track(this.#consumer.connect()),
    ]);
    return range;
  }

  /** Resolves when nothing that is published from now on would be missed. */
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
    // If kafkajs ever chose where to begin, what was handled before would come again and be dropped, not be lost.
    await this.#track(consumer.subscribe({ topic, fromBeginning: true }));
    const eachBatch = async (payload: { readonly batch: KafkaBatch }): Promise<void> => {
      if (!this.#isLost && payload.batch.partition === PARTITION) batch(payload.batch);
    };
    // Resolves when it has joined, and also when it crashed on the way.
    await this.#track(consumer.run({ autoCommit: false, eachBatch }));
    if (!this.#isJoined) throw await this.lost;
    this.#watchFetches();
  }

  /** Rejects when the broker says no, and as soon as the link is lost. */
  send(value: Buffer): Promise<void> {
    return this.#queue.push(value);
  }

  /** The offset that the next record will get. Who asks while a question is under way shares the next one. */
  end(): Promise<number> {
    if (this.#nextEnd === undefined) {
      this.#nextEnd = this.#track(this.#lastEnd.then(() => this.#askEnd()));
      this.#lastEnd = this.#nextEnd.catch(() => {});
    }
    return this.#nextEnd;
  }

  lose(reason: unknown): void {
    this.#isLost = true;
    clearInterval(this.#watch);
    this.#queue.end(reason);
    this.#lost.resolve(reason);
  }

  /** Leaves nothing behind, if the broker is there to be told; ends soon if not. */
  async close(groups: string[]): Promise<void> {
    if (this.#isJoined && !this.#isLost) {
      this.lose(new Error("the link is closed"));
      await within(GOODBYE_MS, this.#sayGoodbye(groups), "the broker did not answer").catch(() => {});
    }
    await this.abandon();
  }

  /** Ends what is open without a word. A lent client cannot be cut, so what it still tries is waited for. */
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

  /** Seconds are counted and not measured, so that a process that was busy for long blames only itself. */
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
