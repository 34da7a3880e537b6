import type { Control } from "@hivepace/dashboard";
import { bounds } from "./options.ts";
import type { Plan } from "./plan.ts";
import type { Race } from "./run/race.ts";
import { percent } from "./show/text.ts";

const CUT_TO = 0.5;
const JOINING = 10;

/** The buttons of the page. Each acts on all rows. */
export function controlsOf(run: Race, { rpm }: Plan): Control[] {
  return [
    {
      id: "cut",
      label: "Cut the limit",
      about: `The provider allows ${percent(CUT_TO)} of its ${rpm} requests a minute, and of the tokens.`,
      run: () => run.do({ type: "limit", part: CUT_TO }),
    },
    {
      id: "restore",
      label: "Restore the limit",
      about: "The provider allows everything again.",
      run: () => run.do({ type: "limit", part: 1 }),
    },
    {
      id: "kill-agent",
      label: "Kill an agent",
      about: "One agent ends at once, without closing its hive.",
      run: () => run.do({ type: "crash" }),
    },
    {
      id: "kill-bus",
      label: "Kill the bus",
      about: "The agents no longer receive each other's messages.",
      run: () => run.do({ type: "bus", isThere: false }),
    },
    {
      id: "restore-bus",
      label: "Bring the bus back",
      about: "The agents receive each other's messages again.",
      run: () => run.do({ type: "bus", isThere: true }),
    },
    {
      id: "add-agents",
      label: `Add ${JOINING} agents`,
      about: `${JOINING} more agents share the limit.`,
      run: async () => {
        if (run.agents + JOINING > bounds.agents.most)
          throw new Error(
            `the swarm has ${run.agents} of at most ${bounds.agents.most} agents; adding ${JOINING} would exceed that`,
          );
        return run.do({ type: "join", agents: JOINING });
      },
    },
  ];
}
