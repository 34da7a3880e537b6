import type { World } from "./world.ts";

interface CommandModule {
  readonly help: string;
  run(args: readonly string[], world: World): Promise<number>;
}

export interface Command {
  /** One line for the list of commands. */
  readonly about: string;
  /** Loads the module of the command on first use. */
  readonly load: () => Promise<CommandModule>;
}

export const commands: Readonly<Record<string, Command>> = {
  demo: { about: "run a demo swarm on this machine, without a broker", load: () => import("./commands/demo.ts") },
  dashboard: {
    about: "serve a web page that shows a swarm live",
    load: () => import("./commands/dashboard.ts"),
  },
  watch: { about: "print the events of a swarm as they happen", load: () => import("./commands/watch.ts") },
  status: { about: "print limits, usage, levels and agents of a swarm", load: () => import("./commands/status.ts") },
  announce: {
    about: "tell all agents that a resource has less capacity",
    load: () => import("./commands/announce.ts"),
  },
  park: { about: "close an endpoint or a model for all agents", load: () => import("./commands/park.ts") },
  unpark: { about: "reopen an endpoint or a model for all agents", load: () => import("./commands/unpark.ts") },
  doctor: {
    about: "find problems of bus, Redis or swarm, and suggest fixes",
    load: () => import("./commands/doctor.ts"),
  },
  simulate: { about: "simulate swarms in virtual time and draw a chart", load: () => import("./commands/simulate.ts") },
};
