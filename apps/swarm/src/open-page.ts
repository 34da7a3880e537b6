import { observeSwarm } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";
import { controlsOf } from "./controls.ts";
import type { DemoOptions } from "./options.ts";
import type { Plan } from "./plan.ts";
import type { SwarmRun } from "./run/swarm-run.ts";
import type { DemoWorld } from "./world.ts";

export interface Page {
  /** Undefined when there is none. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

export interface PageSetting {
  readonly bus: string;
  readonly namespace: string;
  readonly options: DemoOptions;
  readonly plan: Plan;
  readonly world: DemoWorld;
}

/** Joins the agents' bus, only to hear; and opens the page, if there is one to open. Rejects when there is no broker. */
export async function openPage(
  run: SwarmRun,
  { bus: address, namespace, options, plan, world }: PageSetting,
): Promise<Page> {
  const bus = await openBus(address);
  if (options.headless || world.openDashboard === undefined) {
    await bus.close();
    return { url: undefined, close: async () => {} };
  }
  const observer = await observeSwarm({ bus, namespace });
  const closeBus = async (): Promise<void> => {
    await observer.close();
    await bus.close();
  };
  try {
    const title = `Hivepace demo: ${options.scenario}`;
    const controls = controlsOf(run, plan);
    const dashboard = await world.openDashboard({
      observer,
      title,
      port: options.port,
      provider: () => run.facts,
      controls,
    });
    return {
      url: dashboard.url,
      close: async () => {
        await dashboard.close();
        await closeBus();
      },
    };
  } catch (error) {
    await closeBus();
    throw error;
  }
}
