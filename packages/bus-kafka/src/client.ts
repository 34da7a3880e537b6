/**
 * The part of kafkajs that the bus uses, as structural types: its `Kafka` fits in any version, and the types of this
 * package do not depend on those of kafkajs.
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

/** A part of the client that connects, disconnects, and emits events. */
export interface KafkaPart {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  readonly events: { readonly REQUEST_TIMEOUT: string };
  on(event: string, listener: (event: KafkaEvent) => void): () => void;
}

/** An event of kafkajs. */
export interface KafkaEvent {
  readonly payload: unknown;
}

/** The part of a kafkajs producer that the bus uses. */
export interface KafkaProducer extends KafkaPart {
  /** Sends records. The bus passes a Buffer as the value; the wider type avoids a dependency on the types of Node. */
  send(batch: {
    topic: string;
    acks?: number;
    timeout?: number;
    messages: { value: Uint8Array | string | null; partition?: number }[];
  }): Promise<unknown>;
}

/** The part of a kafkajs consumer that the bus uses. */
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

/** Records of one partition, as kafkajs delivers them. */
export interface KafkaBatch {
  readonly partition: number;
  readonly messages: readonly { readonly offset: string; readonly value: Uint8Array | null }[];
  lastOffset(): string;
}

/** The part of a kafkajs admin client that the bus uses. */
export interface KafkaAdmin extends KafkaPart {
  fetchTopicOffsets(topic: string): Promise<{ partition: number; high: string; low: string }[]>;
  createTopics(options: {
    topics: { topic: string; numPartitions: number; configEntries: { name: string; value: string }[] }[];
  }): Promise<boolean>;
  deleteGroups(groups: string[]): Promise<unknown>;
}

/** The client of one link. */
export interface LinkClient {
  readonly kafka: KafkaClient;
  /** Closes all present and future connections of the client. Does nothing for a lent client. */
  cut(): void;
}

/** Yields an error and all errors nested in it; kafkajs puts the informative one innermost. */
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
  /** The name of the error in the Kafka protocol. */
  readonly type?: string;
  readonly retriable?: boolean;
  readonly errors?: readonly unknown[];
}

export const hasType = (error: unknown, types: readonly string[]): boolean =>
  [...causes(error)].some(({ type }) => type !== undefined && types.includes(type));

/** Whether the broker refused the request, so that a retry is pointless. */
export const isRefused = (error: unknown): boolean =>
  [...causes(error)].some(({ type, retriable }) => type !== undefined && retriable === false);

export const isRefusedLogin = (error: unknown): boolean =>
  [...causes(error)].some(({ name }) => name === "KafkaJSSASLAuthenticationError");
