/** What every contender has to do, the same for all. */
export interface Plan {
  readonly agents: number;
  /** What the provider accepts in any window, and what the contenders are told: a little less, for the way there. */
  readonly providerLimit: number;
  readonly limit: number;
  readonly windowMs: number;
  /** Calls a second of each agent, in parts of the limit: what they want when there is too little for all. */
  readonly wants: readonly number[];
  /** So long a caller waits; then it gives up. */
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

/** What an agent's process is started with. */
export interface AgentTask {
  readonly contender: ContenderName;
  readonly index: number;
  readonly plan: Plan;
  readonly providerUrl: string;
  readonly redisUrl: string;
  readonly natsUrl: string;
  /** No two runs share anything in Redis or on a bus. */
  readonly name: string;
}

/** To an agent: call so often for so long. */
export interface Phase {
  readonly callsPerSecond: number;
  readonly ms: number;
}

/** From an agent: it is ready; or what came of a phase. */
export type AgentWord = { readonly type: "ready" } | ({ readonly type: "done" } & PhaseResult);

export interface PhaseResult {
  readonly accepted: number;
  readonly refused: number;
  readonly gaveUp: number;
  /** From asking until it may send, of each call that was sent, in milliseconds. */
  readonly waits: readonly number[];
}

/** What is fair when not all can have what they want: nobody less than another, unless they want no more. */
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

/** 1 when all have the same part of what is fair; 1 / n when one has all. */
export function jain(parts: readonly number[]): number {
  const sum = parts.reduce((all, part) => all + part, 0);
  const squares = parts.reduce((all, part) => all + part * part, 0);
  return squares === 0 ? 1 : (sum * sum) / (parts.length * squares);
}
