import type { Agent } from "./agent.ts";

/** Messages whose echo is awaited. Later echoes than that are not measured. */
const MOST_AWAITED = 64;
/** Weight of a new measurement in the mean and in the mean deviation. Single slow messages hardly count. */
const GAIN = 1 / 16;
/** Deviations above the mean within which most messages arrive. Retransmissions cover the others. */
const DEVIATIONS = 2;

/**
 * The delay of the bus, measured by the echo of own messages. The estimate is that of retransmission timers: the mean
 * plus a multiple of the mean deviation.
 */
export interface Delay {
  /** Times of publication of messages that were not echoed yet, by sequence number. */
  readonly publishedAt: Map<number, number>;
  meanMs: number;
  deviationMs: number;
  /** The largest delay of this agent and of all live peers, as of the latest sweep. */
  swarmMs: number;
}

export function newDelay(): Delay {
  return { publishedAt: new Map(), meanMs: 0, deviationMs: 0, swarmMs: 0 };
}

export function notePublished({ config, link: { delay, seq } }: Agent, now: number): void {
  if (!config.echoes) return;
  const { publishedAt } = delay;
  publishedAt.set(seq, now);
  if (publishedAt.size <= MOST_AWAITED) return;
  for (const oldest of publishedAt.keys()) {
    publishedAt.delete(oldest);
    break;
  }
}

export function noteEchoed({ link: { delay } }: Agent, seq: number, now: number): void {
  const publishedAt = delay.publishedAt.get(seq);
  if (publishedAt === undefined) return;
  delay.publishedAt.delete(seq);
  const error = now - publishedAt - delay.meanMs;
  delay.meanMs += GAIN * error;
  delay.deviationMs += GAIN * (Math.abs(error) - delay.deviationMs);
}

/** Time within which this agent's messages come back to it. */
function echoMsOf({ link: { delay } }: Agent): number {
  return delay.meanMs + DEVIATIONS * delay.deviationMs;
}

/** The echo time to report: undefined while the usual settle time covers it. */
export function reportedEchoMs(agent: Agent): number | undefined {
  const echoMs = echoMsOf(agent);
  return echoMs > agent.config.tuning.settleMs ? echoMs : undefined;
}

/**
 * Updates the delay of the swarm. Agents wait for the slowest one, because a message takes the sender's way to the broker
 * and the receiver's way from it: half of the echo time of each.
 */
export function measureSwarm(agent: Agent): void {
  let most = echoMsOf(agent);
  for (const { state, echoMs } of agent.membership.peers.values()) if (state === "live") most = Math.max(most, echoMs);
  agent.link.delay.swarmMs = most;
}
