/** A metric that counts or measures events. */
export interface EventMetric {
  readonly kind: "counter" | "histogram";
  readonly name: string;
  /** The unit in UCUM; text in braces is an annotation. */
  readonly unit: string;
  readonly description: string;
}

/** A metric that is observed at each collection. */
export interface StatusMetric {
  readonly kind: "gauge" | "up-down-counter";
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  /** How the values of several objects with equal attributes are combined. */
  readonly merge: "sum" | "max" | "min";
  /** The neutral value, reported once the measured object is gone. */
  readonly atRest: 0 | 1;
}

/** Histogram boundaries from a millisecond to five minutes, the default maximum wait of a limited fetch. */
export const SECONDS: number[] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export const eventMetrics = {
  decisions: {
    kind: "counter",
    name: "hivepace.decisions",
    unit: "{decision}",
    description: "Decisions on requests, each counted once: at the end of its wait if the request waited.",
  },
  waitDuration: {
    kind: "histogram",
    name: "hivepace.wait.duration",
    unit: "s",
    description: "Wait of requests that could not be sent at once.",
  },
  leaseDuration: {
    kind: "histogram",
    name: "hivepace.lease.duration",
    unit: "s",
    description: "Time from the grant of a lease to its end.",
  },
  tokens: {
    kind: "counter",
    name: "hivepace.tokens",
    unit: "{token}",
    description: "Tokens used by ended leases.",
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
    description: "Cuts, pauses and recoveries of the shared capacity.",
  },
  availabilityChanges: {
    kind: "counter",
    name: "hivepace.availability.changes",
    unit: "{change}",
    description: "Changes of the availability of endpoints and models, and failed probes.",
  },
  memberChanges: {
    kind: "counter",
    name: "hivepace.member.changes",
    unit: "{change}",
    description: "Agents that joined, left, or fell silent.",
  },
  messagesSent: {
    kind: "counter",
    name: "hivepace.messages.sent",
    unit: "{message}",
    description: "Messages to other agents; with an error type, messages that the bus rejected.",
  },
  messagesReceived: {
    kind: "counter",
    name: "hivepace.messages.received",
    unit: "{message}",
    description: "Received messages, including the agent's own.",
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
    description: "Transitions of a bus into a state.",
  },
  syncDuration: {
    kind: "histogram",
    name: "hivepace.sync.duration",
    unit: "s",
    description: "Duration of calls to the store.",
  },
  callDuration: {
    kind: "histogram",
    name: "hivepace.call.duration",
    unit: "s",
    description: "Time from sending a request of a limited client to the start of the response.",
  },
} as const satisfies Record<string, EventMetric>;

export const statusMetrics = {
  level: {
    kind: "gauge",
    name: "hivepace.limit.level",
    unit: "1",
    description: "Fraction of the limit that remains after cuts, 0 to 1; equal at every agent.",
    merge: "min",
    atRest: 1,
  },
  pause: {
    kind: "gauge",
    name: "hivepace.limit.pause",
    unit: "s",
    description: "Remaining pause of all agents.",
    merge: "max",
    atRest: 0,
  },
  available: {
    kind: "gauge",
    name: "hivepace.endpoint.available",
    unit: "1",
    description: "1 while the endpoint may be called, 0 while it is overloaded, broken or parked.",
    merge: "min",
    atRest: 1,
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
    description: "Capacity of all agents in a window: the limit times its level.",
    merge: "min",
    atRest: 0,
  },
  used: {
    kind: "gauge",
    name: "hivepace.limit.used",
    unit: "{unit}",
    description: "Usage of all agents in the last window, as known to this agent.",
    merge: "max",
    atRest: 0,
  },
  usedHere: {
    kind: "up-down-counter",
    name: "hivepace.limit.used_here",
    unit: "{unit}",
    description: "Usage of this agent in the last window.",
    merge: "sum",
    atRest: 0,
  },
  share: {
    kind: "up-down-counter",
    name: "hivepace.limit.share",
    unit: "{unit}",
    description: "Fair share of this agent in the capacity.",
    merge: "sum",
    atRest: 0,
  },
  inFlight: {
    kind: "up-down-counter",
    name: "hivepace.requests.in_flight",
    unit: "{request}",
    description: "Requests granted and not ended.",
    merge: "sum",
    atRest: 0,
  },
  waiting: {
    kind: "up-down-counter",
    name: "hivepace.requests.waiting",
    unit: "{request}",
    description: "Waiting requests.",
    merge: "sum",
    atRest: 0,
  },
  members: {
    kind: "gauge",
    name: "hivepace.members",
    unit: "{agent}",
    description: "Live agents known to this agent, including itself.",
    merge: "min",
    atRest: 0,
  },
  agentStatus: {
    kind: "up-down-counter",
    name: "hivepace.agent.status",
    unit: "{agent}",
    description: "1 for the current mode of the agent, 0 for the others.",
    merge: "sum",
    atRest: 0,
  },
  duplicates: {
    kind: "up-down-counter",
    name: "hivepace.agent.duplicates",
    unit: "{agent}",
    description: "1 while another process uses the same agent id.",
    merge: "sum",
    atRest: 0,
  },
  busStatus: {
    kind: "up-down-counter",
    name: "hivepace.bus.status",
    unit: "{bus}",
    description: "1 for the current state of the agent's bus, 0 for the others.",
    merge: "sum",
    atRest: 0,
  },
  busSilence: {
    kind: "gauge",
    name: "hivepace.bus.silence",
    unit: "s",
    description: "Time since the agent last received a message of another agent.",
    merge: "max",
    atRest: 0,
  },
  syncAge: {
    kind: "gauge",
    name: "hivepace.sync.age",
    unit: "s",
    description: "Time since the last answer of the store.",
    merge: "max",
    atRest: 0,
  },
} as const satisfies Record<string, StatusMetric>;
