/** The numbers of the algorithm. Users do not set them; the simulator does, to show what each is good for. */
export interface Tuning {
  /** How often an agent that has something to do reports. */
  readonly heartbeatMs: number;
  /** How often one that has not. */
  readonly idleHeartbeatMs: number;
  /** With more agents than this they report less often, so that nobody has to hear more. */
  readonly crowd: number;
  /** Part of the limit that nobody uses while there are several agents: room for what they learn too late. */
  readonly headroom: number;
  /** By so much a clock may be too fast. */
  readonly drift: number;
  /** So long after it was published everyone has heard a message, or one of its repeats. */
  readonly settleMs: number;
  /** Something important is said this many times more, so far apart. */
  readonly repeats: number;
  readonly repeatMs: number;
  /** Messages of one agent are at least this far apart. */
  readonly gapMs: number;
  /** A claim is for the next call, or for this part of an agent's fair share of the limit if that is more. */
  readonly quantum: number;
  /** And for so many calls more, where that is no larger a part of what is free. */
  readonly spare: number;
  /** For how many of its fair shares a large call may set an agent back in the line. */
  readonly debt: number;
  /** By so much time an agent may be behind the line and keep its turn. */
  readonly lateMs: number;
  /** A newcomer listens for so many heartbeats. */
  readonly listen: number;
  /** After so many heartbeats without a word an agent is silent. */
  readonly silent: number;
  /** After so many heartbeats without hearing anything, or itself, an agent is cut off. */
  readonly deaf: number;
  readonly unheard: number;
  /** Part of an agent's fair share that it may use before it says so. */
  readonly unsaid: number;
  /** From so long a wait of anyone on, all go at a steady pace. */
  readonly contendedMs: number;
  /** That pace, in limits per window, and for how long it may be saved up. */
  readonly pace: number;
  readonly savedMs: number;
  /** Over so long a claim is spread then. */
  readonly spreadMs: number;
}

export const TUNING: Tuning = {
  heartbeatMs: 1_000,
  idleHeartbeatMs: 5_000,
  crowd: 200,
  headroom: 0.01,
  drift: 0.01,
  settleMs: 350,
  repeats: 2,
  repeatMs: 100,
  gapMs: 50,
  quantum: 0.125,
  spare: 2,
  debt: 2,
  lateMs: 5_000,
  listen: 1.25,
  silent: 5.5,
  deaf: 2.5,
  unheard: 5,
  unsaid: 0.01,
  contendedMs: 2_000,
  pace: 1.1,
  savedMs: 1_000,
  spreadMs: 650,
};
