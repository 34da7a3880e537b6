/** The parameters of the algorithm. Users do not set them; the simulator varies them to show the effect of each. */
export interface Tuning {
  /** Interval between the messages of an agent with recent activity. */
  readonly heartbeatMs: number;
  /** Interval between the messages of an idle agent. */
  readonly idleHeartbeatMs: number;
  /** Number of agents from which on heartbeats become rarer, so that the number of received messages stays bounded. */
  readonly crowd: number;
  /** Fraction of the limit that a swarm leaves unused, to absorb usage that agents learn of too late. */
  readonly safetyMargin: number;
  /** Largest clock drift, as a fraction of the window. Usage of peers is retained longer by this fraction. */
  readonly drift: number;
  /** Time after which all agents have received a message or one of its retransmissions. */
  readonly settleMs: number;
  /** Retransmissions of an urgent message, and their spacing. */
  readonly repeats: number;
  readonly repeatMs: number;
  /** Shortest time between two messages of one agent. */
  readonly gapMs: number;
  /** Size of a claim beyond the next call, as a fraction of the agent's fair share. */
  readonly quantum: number;
  /** Number of further calls that a claim covers while the free capacity is large. */
  readonly spare: number;
  /** Upper bound of an agent's virtual time ahead of the swarm's after a large call, in fair shares. */
  readonly debt: number;
  /** Time by which an agent may lag behind the swarm's virtual time and keep its place. */
  readonly lateMs: number;
  /** Duration of the join phase, in heartbeats. */
  readonly joinHeartbeats: number;
  /** Silence after which a peer is suspected, in heartbeats. */
  readonly suspectAfterHeartbeats: number;
  /** Heartbeats without any message from anyone after which an agent is isolated. */
  readonly isolatedAfterHeartbeats: number;
  /** Heartbeats without an echo of its own messages after which an agent is isolated. */
  readonly unechoedHeartbeats: number;
  /** Fraction of its fair share that an agent may use before it reports. */
  readonly unreportedShare: number;
  /** Wait of any caller in the swarm from which all agents send at a steady pace. */
  readonly contendedMs: number;
  /** The steady pace, in limits per window. */
  readonly pace: number;
  /** Time for which the pace may be saved up. */
  readonly savedMs: number;
  /** Time over which a claim is spread under contention. */
  readonly spreadMs: number;
}

export const TUNING: Tuning = {
  heartbeatMs: 1_000,
  idleHeartbeatMs: 5_000,
  crowd: 200,
  safetyMargin: 0.01,
  drift: 0.01,
  settleMs: 350,
  repeats: 2,
  repeatMs: 100,
  gapMs: 50,
  quantum: 0.125,
  spare: 2,
  debt: 2,
  lateMs: 5_000,
  joinHeartbeats: 1.25,
  suspectAfterHeartbeats: 5.5,
  isolatedAfterHeartbeats: 2.5,
  unechoedHeartbeats: 5,
  unreportedShare: 0.01,
  contendedMs: 2_000,
  pace: 1.1,
  savedMs: 1_000,
  spreadMs: 650,
};
