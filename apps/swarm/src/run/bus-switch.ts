import type { DemoServer } from "../world.ts";

/** Takes the bus away from the agents, and gives it back. */
export interface BusSwitch {
  /** For people: what happens. */
  readonly away: string;
  readonly back: string;
  set(isThere: boolean): Promise<void>;
}

/** A broker of our own is killed, and started again at its place. */
export function brokerSwitch(server: DemoServer, kind: string): BusSwitch {
  let isThere = true;
  let last: Promise<void> = Promise.resolve();
  return {
    away: `the ${kind} server is killed`,
    back: `the ${kind} server is started again`,
    set: (next) => {
      // One after the other: one cannot start what is being killed.
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

/** One that is not ours to kill, or in memory: each agent's wire to it is cut, without its knowing. */
export function wireSwitch(setCutOff: (isCutOff: boolean) => void): BusSwitch {
  return {
    away: "no agent reaches the others any more",
    back: "the agents reach each other again",
    set: async (isThere) => setCutOff(!isThere),
  };
}
