/**
 * What we use of kafkajs, as shapes: its `Kafka` fits, whatever its exact version, and our types need none of its own.
 */
export interface KafkaClient {
  producer(options: {
    readonly createPartitioner: () => () => number;
    readonly maxInFlightRequests: number;
    readonly allowAutoTopicCreation: boolean;
    readonly retry: { readonly retries: number };
  }): KafkaProducer;
  consumer(options: {
    readonly groupId: string;
    readonly sessionTimeout: number;
    readonly rebalanceTimeout: number;
    readonly heartbeatInterval: number;
    readonly maxWaitTimeInMs: number;
    readonly allowAutoTopicCreation: boolean;
    readonly retry: { readonly retries: number; readonly restartOnFailure: () => Promise<boolean> };
  }): KafkaConsumer;
  admin(options: { readonly retry: { readonly retries: number } }): KafkaAdmin;
}

/** A part of the client that is connected and disconnected, and tells what happens to it. */
export interface KafkaPart {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  readonly events: { readonly REQUEST_TIMEOUT: string };
  on(event: string, listener: (event: KafkaEvent) => void): () => void;
}

/** What kafkajs tells its listeners. */
export interface KafkaEvent {
  readonly payload: unknown;
}

/** What we use of a producer of kafkajs. */
export interface KafkaProducer extends KafkaPart {
  /** A value is a Buffer; declared so wide because the types need not know Node's. */
  send(batch: {
    topic: string;
    acks?: number;
    timeout?: number;
    messages: { value: Uint8Array | string | null; partition?: number }[];
  }): Promise<unknown>;
}

/** What we use of a consumer of kafkajs. */
export interface KafkaConsumer extends KafkaPart {
  readonly events: {
    readonly CRASH: string;
    readonly GROUP_JOIN: string;
    readonly REQUEST: string;
    readonly REQUEST_TIMEOUT: string;
  };
  subscribe(subscription: { topic: string; fromBeginning: boolean }): Promise<void>;
  run(config: {
    autoCommit: boolean;
    eachBatch: (payload: { readonly batch: KafkaBatch }) => Promise<void>;
  }): Promise<void>;
  seek(place: { topic: string; partition: number; offset: string }): void;
  pause(topics: { topic: string; partitions: number[] }[]): void;
}

/** Records of one partition, as kafkajs hands them on. */
export interface KafkaBatch {
  readonly partition: number;
  readonly messages: readonly { readonly offset: string; readonly value: Uint8Array | null }[];
  lastOffset(): string;
}

/** What we use of an admin client of kafkajs. */
export interface KafkaAdmin extends KafkaPart {
  fetchTopicOffsets(topic: string): Promise<{ partition: number; high: string; low: string }[]>;
  createTopics(options: {
    topics: { topic: string; numPartitions: number; configEntries: { name: string; value: string }[] }[];
  }): Promise<boolean>;
  deleteGroups(groups: string[]): Promise<unknown>;
}

/** The client as one link uses it. */
export interface LinkClient {
  readonly kafka: KafkaClient;
  /** Ends all connections that were made from it, now and later on. A lent client's stay: they are not in our hands. */
  cut(): void;
}

/** An error with all that it wraps: kafkajs puts the telling one innermost. */
function* causes(error: unknown): Generator<KafkaFailure> {
  const seen = new Set<unknown>();
  for (let next = error; typeof next === "object" && next !== null && !seen.has(next); ) {
    seen.add(next);
    const failure: KafkaFailure & { cause?: unknown } = next;
    yield failure;
    for (const inner of failure.errors ?? []) yield* causes(inner);
    next = failure.cause;
  }
}

export interface KafkaFailure {
  readonly name?: string;
  readonly message?: string;
  /** The protocol's own name of the error. */
  readonly type?: string;
  readonly retriable?: boolean;
  readonly errors?: readonly unknown[];
}

export const hasType = (error: unknown, types: readonly string[]): boolean =>
  [...causes(error)].some(({ type }) => type !== undefined && types.includes(type));

/** Whether the broker has answered, and asking again would not change its mind. */
export const isRefused = (error: unknown): boolean =>
  [...causes(error)].some(({ type, retriable }) => type !== undefined && retriable === false);

export const isRefusedLogin = (error: unknown): boolean =>
  [...causes(error)].some(({ name }) => name === "KafkaJSSASLAuthenticationError");
