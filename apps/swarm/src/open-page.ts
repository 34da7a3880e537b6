import { observeSwarm } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";
import { controlsOf } from "./controls.ts";
import { LapseClock } from "./lapse-clock.ts";
import type { DemoOptions } from "./options.ts";
import type { Plan } from "./plan.ts";
import type { Race } from "./run/race.ts";
import type { DemoWorld } from "./world.ts";

export interface Page {
  /** Undefined when no page was opened. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

export interface PageSetting {
  readonly bus: string;
  readonly namespace: string;
  readonly epochMs: number;
  readonly options: DemoOptions;
  readonly plan: Plan;
  readonly world: DemoWorld;
}

/**
 * Joins the agents' bus as an observer and opens the page, if there is one to open. Rejects when the broker is
 * unavailable.
 */
export async function openPage(
  run: Race,
  { bus: address, namespace, epochMs, options, plan, world }: PageSetting,
): Promise<Page> {
  const bus = await openBus(address);
  if (options.headless || world.openDashboard === undefined) {
    await bus.close();
    return { url: undefined, close: async () => {} };
  }
  const observer = await observeSwarm({ bus, namespace, clock: new LapseClock(plan.speed, epochMs) });
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
