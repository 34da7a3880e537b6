import type { DemoServer } from "../world.ts";

/** Takes the bus away from the agents, and brings it back. */
export interface BusSwitch {
  /** Sentences for the output that describe each change. */
  readonly away: string;
  readonly back: string;
  set(isThere: boolean): Promise<void>;
}

/** Kills the demo's own broker, and starts it again at the same address. */
export function brokerSwitch(server: DemoServer, kind: string): BusSwitch {
  let isThere = true;
  let last: Promise<void> = Promise.resolve();
  return {
    away: `the ${kind} server is killed`,
    back: `the ${kind} server is started again`,
    set: (next) => {
      // Changes are serialized: a server that is still being killed cannot be started.
      last = last
        .catch(() => {})
        .then(async () => {
          if (isThere === next) return;
          isThere = next;
          await (next ? server.start() : server.kill());
        });
      return last;
    },
  };
}

/** Cuts every agent's connection instead, for the memory bus and for brokers that the demo does not own. */
export function wireSwitch(setCutOff: (isCutOff: boolean) => void): BusSwitch {
  return {
    away: "no agent reaches the others any more",
    back: "the agents reach each other again",
    set: async (isThere) => setCutOff(!isThere),
  };
}
