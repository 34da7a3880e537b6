/** The workload, the same for all contenders. */
export interface Plan {
  readonly agents: number;
  /**
   * The provider's limit per window, and the slightly lower limit of the contenders, which allows for varying transit
   * times.
   */
  readonly providerLimit: number;
  readonly limit: number;
  readonly windowMs: number;
  /** The demand of each agent as a fraction of the limit, in the overloaded phase. */
  readonly wants: readonly number[];
  /** The maximum wait of a call. */
  readonly patienceMs: number;
  readonly seed: number;
}

export const contenderNames = [
  "no limiter",
  "every agent for itself",
  "equal split",
  "p-ratelimit on Redis",
  "bottleneck on Redis",
  "rate-limiter-flexible on Redis",
  "Hivepace on Redis",
  "Hivepace on NATS",
] as const;

export type ContenderName = (typeof contenderNames)[number];

/** The arguments of an agent process. */
export interface AgentTask {
  readonly contender: ContenderName;
  readonly index: number;
  readonly plan: Plan;
  readonly providerUrl: string;
  readonly redisUrl: string;
  readonly natsUrl: string;
  /** A unique name, so that runs share no state in Redis or on a bus. */
  readonly name: string;
}

/** Message to an agent: make calls at this rate for this time. */
export interface Phase {
  readonly callsPerSecond: number;
  readonly ms: number;
}

/** Message from an agent: ready, or the result of a phase. */
export type AgentWord = { readonly type: "ready" } | ({ readonly type: "done" } & PhaseResult);

export interface PhaseResult {
  readonly accepted: number;
  readonly refused: number;
  readonly gaveUp: number;
  /** The wait from request to admission, of each call sent, in milliseconds. */
  readonly waits: readonly number[];
}

/** Max-min fair shares: no agent gets less than another, unless its demand is met. */
export function fairShares(wants: readonly number[]): number[] {
  let left = 1;
  const order = wants.map((_, i) => i).sort((a, b) => (wants[a] ?? 0) - (wants[b] ?? 0));
  const shares = wants.map(() => 0);
  for (const [served, i] of order.entries()) {
    const share = Math.min(wants[i] ?? 0, left / (wants.length - served));
    shares[i] = share;
    left -= share;
  }
  return shares;
}

/** Jain's index: 1 when all have the same fraction of their fair share; 1 / n when one has everything. */
export function jain(parts: readonly number[]): number {
  const sum = parts.reduce((all, part) => all + part, 0);
  const squares = parts.reduce((all, part) => all + part * part, 0);
  return squares === 0 ? 1 : (sum * sum) / (parts.length * squares);
}
