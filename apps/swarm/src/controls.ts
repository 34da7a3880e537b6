import type { Control } from "@hivepace/dashboard";
import { bounds } from "./options.ts";
import type { Plan } from "./plan.ts";
import type { SwarmRun } from "./run/swarm-run.ts";
import { percent } from "./show/text.ts";

const CUT_TO = 0.5;
const JOINING = 10;

/** What whoever looks at the page can do to the swarm. */
export function controlsOf(run: SwarmRun, { rpm }: Plan): Control[] {
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
      about: "One agent ends at once, without a goodbye.",
      run: () => run.do({ type: "crash" }),
    },
    {
      id: "kill-bus",
      label: "Kill the bus",
      about: "The agents no longer hear each other.",
      run: () => run.do({ type: "bus", isThere: false }),
    },
    {
      id: "restore-bus",
      label: "Bring the bus back",
      about: "The agents hear each other again.",
      run: () => run.do({ type: "bus", isThere: true }),
    },
    {
      id: "add-agents",
      label: `Add ${JOINING} agents`,
      about: `${JOINING} more agents share the limit.`,
      run: async () => {
        if (run.agents + JOINING > bounds.agents.most)
          throw new Error(`there may be ${bounds.agents.most} agents at most`);
        return run.do({ type: "join", agents: JOINING });
      },
    },
  ];
}
