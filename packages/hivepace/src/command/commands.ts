import type { World } from "./world.ts";

interface CommandModule {
  readonly help: string;
  run(args: readonly string[], world: World): Promise<number>;
}

export interface Command {
  /** One line in the list of all. */
  readonly about: string;
  /** Nothing of a command is loaded before it is asked for. */
  readonly load: () => Promise<CommandModule>;
}

export const commands: Readonly<Record<string, Command>> = {
  demo: { about: "a swarm at work, here and now: nothing else is needed", load: () => import("./commands/demo.ts") },
  dashboard: {
    about: "a page in your browser that shows a swarm as it is",
    load: () => import("./commands/dashboard.ts"),
  },
  watch: { about: "what happens to a swarm, as it happens", load: () => import("./commands/watch.ts") },
  status: { about: "one look at a swarm: limits, use, levels, agents", load: () => import("./commands/status.ts") },
  announce: {
    about: "tell all agents that a resource has less capacity",
    load: () => import("./commands/announce.ts"),
  },
  doctor: {
    about: "what is wrong with bus, Redis or swarm, and what to do",
    load: () => import("./commands/doctor.ts"),
  },
  simulate: { about: "swarms in virtual time, with a chart", load: () => import("./commands/simulate.ts") },
};
