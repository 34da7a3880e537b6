import type { KafkaClient } from "./client.ts";

/**
 * Members of kafkajs 2 that it does not declare: each connection has a queue of requests, which checks for timeouts in an
 * interval and for pending requests every few milliseconds, also while it is idle.
 */
interface RequestQueue {
  requestTimeoutIntervalId?: Unrefable | null;
  throttleCheckTimeoutId?: Unrefable | null;
  scheduleRequestTimeoutCheck?(): void;
  scheduleCheckPendingRequests?(): void;
}
interface Unrefable {
  unref?(): unknown;
}
interface Cluster {
  readonly connectionPoolBuilder?: { build?(place?: object): Promise<ConnectionPool> };
}
interface ConnectionPool {
  readonly pool?: readonly { readonly requestQueue?: RequestQueue }[];
}
type CreateCluster = (options: object) => Cluster;

/**
 * Lets the process end although these timers of an owned client run. Does nothing in a version of kafkajs with other
 * internals.
 */
export function letProcessEnd(kafka: KafkaClient): void {
  const key = Object.getOwnPropertySymbols(kafka).find(({ description }) => description?.endsWith(":createCluster"));
  const internals = kafka as unknown as Record<symbol, CreateCluster>;
  const create = key && internals[key];
  if (typeof create !== "function") return;
  internals[key as symbol] = (options) => {
    const cluster = create(options);
    const builder = cluster.connectionPoolBuilder;
    const build = builder?.build;
    if (builder && build)
      builder.build = async (place) => {
        const connections = await build(place);
        for (const { requestQueue } of connections.pool ?? []) if (requestQueue) unrefTimers(requestQueue);
        return connections;
      };
    return cluster;
  };
}

function unrefTimers(queue: RequestQueue): void {
  const { scheduleRequestTimeoutCheck: watch, scheduleCheckPendingRequests: check } = queue;
  queue.scheduleRequestTimeoutCheck = () => {
    watch?.call(queue);
    queue.requestTimeoutIntervalId?.unref?.();
  };
  queue.scheduleCheckPendingRequests = () => {
    check?.call(queue);
    queue.throttleCheckTimeoutId?.unref?.();
  };
}
