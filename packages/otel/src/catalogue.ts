/** A metric that counts or measures what happens. */
export interface EventMetric {
  readonly kind: "counter" | "histogram";
  readonly name: string;
  /** In UCUM; what stands in braces is only for people. */
  readonly unit: string;
  readonly description: string;
}

/** A metric that is read when somebody asks. */
export interface StatusMetric {
  readonly kind: "gauge" | "up-down-counter";
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  /** What several objects of one process make of it that have the same attributes. */
  readonly merge: "sum" | "max" | "min";
  /** Its value once nothing is left to measure: the one that means no harm. */
  readonly atRest: 0 | 1;
}

/** From a millisecond to five minutes, which is as long as a limited fetch waits unless told otherwise. */
export const SECONDS: number[] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export const eventMetrics = {
  decisions: {
    kind: "counter",
    name: "hivepace.decisions",
    unit: "{decision}",
    description: "Requests that were decided on, each once, at the end of its wait if it had one.",
  },
  waitDuration: {
    kind: "histogram",
    name: "hivepace.wait.duration",
    unit: "s",
    description: "How long requests waited that could not be sent at once.",
  },
  leaseDuration: {
    kind: "histogram",
    name: "hivepace.lease.duration",
    unit: "s",
    description: "From the grant of a lease to its end.",
  },
  tokens: {
    kind: "counter",
    name: "hivepace.tokens",
    unit: "{token}",
    description: "Tokens that ended leases have used.",
  },
  refusals: {
    kind: "counter",
    name: "hivepace.refusals",
    unit: "{refusal}",
    description: "Refusals by a provider (429 and the like) that this process announced.",
  },
  levelChanges: {
    kind: "counter",
    name: "hivepace.level.changes",
    unit: "{change}",
    description: "How often what all agents may use was cut, paused, or rose again.",
  },
  memberChanges: {
    kind: "counter",
    name: "hivepace.member.changes",
    unit: "{change}",
    description: "Agents that came, said goodbye, or are not heard any more.",
  },
  messagesSent: {
    kind: "counter",
    name: "hivepace.messages.sent",
    unit: "{message}",
    description: "Messages to other agents; with an error, those that the bus did not take.",
  },
  messagesReceived: {
    kind: "counter",
    name: "hivepace.messages.received",
    unit: "{message}",
    description: "Messages that came, the agent's own included.",
  },
  messagesIgnored: {
    kind: "counter",
    name: "hivepace.messages.ignored",
    unit: "{message}",
    description: "Messages, or parts of one, that changed nothing.",
  },
  busChanges: {
    kind: "counter",
    name: "hivepace.bus.changes",
    unit: "{change}",
    description: "How often a bus came into a state.",
  },
  syncDuration: {
    kind: "histogram",
    name: "hivepace.sync.duration",
    unit: "s",
    description: "How long calls of the store took.",
  },
  callDuration: {
    kind: "histogram",
    name: "hivepace.call.duration",
    unit: "s",
    description: "From the sending of a request by a limited client to the beginning of its answer.",
  },
} as const satisfies Record<string, EventMetric>;

export const statusMetrics = {
  level: {
    kind: "gauge",
    name: "hivepace.limit.level",
    unit: "1",
    description: "What is left of the limit after cuts, 0 to 1; the same at every agent.",
    merge: "min",
    atRest: 1,
  },
  pause: {
    kind: "gauge",
    name: "hivepace.limit.pause",
    unit: "s",
    description: "For how long all agents still pause.",
    merge: "max",
    atRest: 0,
  },
  configured: {
    kind: "gauge",
    name: "hivepace.limit.configured",
    unit: "{unit}",
    description: "The limit in a window, as configured or learned: requests or tokens, by dimension.",
    merge: "min",
    atRest: 0,
  },
  total: {
    kind: "gauge",
    name: "hivepace.limit.capacity",
    unit: "{unit}",
    description: "What all agents may use in a window now: the limit by its level.",
    merge: "min",
    atRest: 0,
  },
  used: {
    kind: "gauge",
    name: "hivepace.limit.used",
    unit: "{unit}",
    description: "What all agents have used in the last window, as far as this one knows.",
    merge: "max",
    atRest: 0,
  },
  usedHere: {
    kind: "up-down-counter",
    name: "hivepace.limit.used_here",
    unit: "{unit}",
    description: "What this agent has used in the last window.",
    merge: "sum",
    atRest: 0,
  },
  share: {
    kind: "up-down-counter",
    name: "hivepace.limit.share",
    unit: "{unit}",
    description: "This agent's fair part of what all may use.",
    merge: "sum",
    atRest: 0,
  },
  inFlight: {
    kind: "up-down-counter",
    name: "hivepace.requests.in_flight",
    unit: "{request}",
    description: "Requests that were granted and have not ended.",
    merge: "sum",
    atRest: 0,
  },
  waiting: {
    kind: "up-down-counter",
    name: "hivepace.requests.waiting",
    unit: "{request}",
    description: "Requests that wait now.",
    merge: "sum",
    atRest: 0,
  },
  members: {
    kind: "gauge",
    name: "hivepace.members",
    unit: "{agent}",
    description: "Live agents that this one knows of, itself included.",
    merge: "min",
    atRest: 0,
  },
  agentStatus: {
    kind: "up-down-counter",
    name: "hivepace.agent.status",
    unit: "{agent}",
    description: "1 for the mode in which the agent is, 0 for the others.",
    merge: "sum",
    atRest: 0,
  },
  duplicates: {
    kind: "up-down-counter",
    name: "hivepace.agent.duplicates",
    unit: "{agent}",
    description: "1 while another process goes by the same agent id.",
    merge: "sum",
    atRest: 0,
  },
  busStatus: {
    kind: "up-down-counter",
    name: "hivepace.bus.status",
    unit: "{bus}",
    description: "1 for the state in which the agent's bus is, 0 for the others.",
    merge: "sum",
    atRest: 0,
  },
  busSilence: {
    kind: "gauge",
    name: "hivepace.bus.silence",
    unit: "s",
    description: "How long ago the agent last heard anyone on the bus.",
    merge: "max",
    atRest: 0,
  },
  syncAge: {
    kind: "gauge",
    name: "hivepace.sync.age",
    unit: "s",
    description: "How long ago the store last answered.",
    merge: "max",
    atRest: 0,
  },
} as const satisfies Record<string, StatusMetric>;
