import type {
  KafkaAdmin,
  KafkaBatch,
  KafkaClient,
  KafkaConsumer,
  KafkaEvent,
  KafkaProducer,
} from "../../src/client.ts";
import { encodeFrame } from "../../src/frame.ts";

type Listener = (event: KafkaEvent) => void;

/** A Kafka client whose events and failures a test controls. */
export class FakeKafka implements KafkaClient {
  range = { low: 0, high: 0 };
  /** The error with which connecting fails, if any. */
  trouble: Error | undefined;
  readonly groups: string[] = [];
  readonly seeks: string[] = [];
  readonly paused: number[][] = [];
  readonly deleted: string[] = [];
  open = 0;
  #listeners = new Map<string, Listener[]>();
  #eachBatch: ((payload: { batch: KafkaBatch }) => Promise<void>) | undefined;

  admin(): KafkaAdmin {
    return {
      ...this.#part(),
      fetchTopicOffsets: async () => [{ partition: 0, low: `${this.range.low}`, high: `${this.range.high}` }],
      createTopics: async () => true,
      deleteGroups: async (groups) => this.deleted.push(...groups),
    };
  }

  producer(): KafkaProducer {
    return { ...this.#part(), send: async () => {} };
  }

  consumer({ groupId }: { groupId: string }): KafkaConsumer {
    this.groups.push(groupId);
    this.#listeners = new Map();
    const part = this.#part();
    const names = { CRASH: "crash", GROUP_JOIN: "join", REQUEST: "request" };
    return {
      ...part,
      events: { ...names, ...part.events },
      subscribe: async () => {},
      run: async ({ eachBatch }) => {
        this.#eachBatch = eachBatch;
        this.join();
      },
      seek: ({ offset }) => this.seeks.push(offset),
      pause: (topics) => this.paused.push(...topics.map(({ partitions }) => partitions)),
    };
  }

  join(partitions = [0]): void {
    this.emit("join", { memberAssignment: { "hivepace-bus": partitions } });
  }

  emit(event: string, payload: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener({ payload });
  }

  /** Delivers records as one batch, starting at the offset `from`. */
  async deliver(from: number, subjects: readonly string[], { partition = 0, hidden = 0 } = {}): Promise<void> {
    const messages = subjects.map((subject, i) => {
      const offset = `${from + i}`;
      return { offset, value: encodeFrame(subject, Buffer.from(offset)) };
    });
    const lastOffset = (): string => `${from + subjects.length - 1 + hidden}`;
    await this.#eachBatch?.({ batch: { partition, messages, lastOffset } });
  }

  #part() {
    let isOpen = false;
    return {
      connect: async () => {
        if (this.trouble) throw this.trouble;
        if (!isOpen) this.open++;
        isOpen = true;
      },
      disconnect: async () => {
        if (isOpen) this.open--;
        isOpen = false;
      },
      events: { REQUEST_TIMEOUT: "timeout" },
      on: (event: string, listener: Listener) => {
        this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
        return () => {};
      },
    };
  }
}
