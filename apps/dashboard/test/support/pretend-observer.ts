import type {
  ObservedAgent,
  ObservedResource,
  ObservedUse,
  SwarmEvent,
  SwarmObserver,
  SwarmSnapshot,
} from "@hivepace/distributed";

/** An observer with a settable snapshot, for states that are rare in a real swarm. */
export class PretendObserver implements SwarmObserver {
  readonly namespace: string;
  now: SwarmSnapshot;
  isClosed = false;
  readonly #listeners = new Set<(event: SwarmEvent) => void>();

  constructor(now: SwarmSnapshot = emptySnapshot, namespace = "prod") {
    [this.now, this.namespace] = [now, namespace];
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  snapshot(): SwarmSnapshot {
    return this.now;
  }

  onEvent(listener: (event: SwarmEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: SwarmEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export const emptySnapshot: SwarmSnapshot = {
  bus: "ready",
  observedMs: 3_000,
  members: 0,
  agents: [],
  resources: [],
  keys: [],
  availability: [],
  received: 0,
  ignored: {},
};

export const agent = (agentId: string, change: Partial<ObservedAgent> = {}): ObservedAgent => ({
  agentId,
  state: "live",
  lastMessageAgoMs: 400,
  upMs: 65_000,
  weight: 1,
  isAllocated: false,
  ...change,
});

export const use = (agentId: string, change: Partial<ObservedUse> = {}): ObservedUse => ({
  agentId,
  used: [30],
  share: [50],
  waiting: [0],
  waitedMs: 0,
  heldMs: 0,
  ...change,
});

export const resource = (change: Partial<ObservedResource> = {}): ObservedResource => ({
  resource: "openai",
  windowMs: 60_000,
  limits: [{ dimension: "requests", limit: 1_000, total: 1_000, used: 300, usedSince: 900, waiting: 0 }],
  level: 1,
  cause: undefined,
  pausedForMs: 0,
  risesInMs: undefined,
  agents: [],
  ...change,
});
