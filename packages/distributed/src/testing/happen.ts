import type { Amounts } from "../engine/index.ts";
import type { Network } from "./network.ts";
import { amountsOf, type Fault } from "./options.ts";
import type { Service } from "./service.ts";
import type { SimulatedStore } from "./simulated-store.ts";
import type { Timeline } from "./timeline.ts";

/** The parts of a simulation that a fault may change. */
export interface Stage {
  readonly timeline: Timeline;
  readonly network: Network;
  readonly service: Service;
  readonly store: SimulatedStore | undefined;
  /** Starts an agent, unless the agent already runs. */
  start(index: number, how?: { readonly isEarlier?: boolean; readonly isRenamed?: boolean }): void;
  stop(index: number, graceful: boolean): void;
  freeze(index: number, forMs: number): void;
  /** Refuses the agent's next call although the limit is not reached. */
  refuseNext(index: number, retryAfterMs: number | undefined): void;
  /** Sets the limits of all agents, or of the given ones. */
  setLimits(limits: Amounts, agents: readonly number[] | undefined): void;
  /** Delivers a forged message to every agent. */
  inject(message: unknown): void;
}

/** Applies a fault to the world now, and schedules its end. */
export function happen(stage: Stage, fault: Fault): void {
  const { timeline, network, service, store } = stage;
  switch (fault.type) {
    case "crash":
    case "leave":
      for (const index of fault.agents) stage.stop(index, fault.type === "leave");
      break;
    case "join":
      for (const index of fault.agents) stage.start(index);
      break;
    case "restart":
      for (const index of fault.agents) stage.stop(index, fault.graceful);
      timeline.after(fault.downMs, () => {
        for (const index of fault.agents) stage.start(index, fault);
      });
      break;
    case "cut":
    case "deafen":
    case "mute": {
      const { type } = fault;
      const who = new Set(fault.agents);
      network.trouble(
        fault.forMs,
        (from, to) => !(who.has(from) && type !== "deafen") && !(who.has(to) && type !== "mute"),
      );
      break;
    }
    case "split": {
      const side = new Map(fault.groups.flatMap((group, g) => group.map((index) => [index, g] as const)));
      network.trouble(fault.forMs, (from, to) => side.get(from) === side.get(to));
      break;
    }
    case "bus-down":
      timeline.after(fault.forMs, network.outage());
      break;
    case "network":
      network.change(fault.forMs, fault.network);
      break;
    case "store-down":
      store?.down(fault.forMs, fault.agents);
      break;
    case "store-stall":
      store?.stall(fault.forMs);
      break;
    case "store-errors":
      store?.fail(fault.forMs, fault.part);
      break;
    case "store-flush":
      store?.flush();
      break;
    case "store-failover":
      store?.failOver(fault.forMs);
      break;
    case "freeze":
      for (const index of fault.agents) stage.freeze(index, fault.forMs);
      break;
    case "provider":
      service.setFactor(fault.factor, timeline.now, fault.endpoints);
      timeline.after(fault.forMs, () => service.setFactor(1, timeline.now, fault.endpoints));
      break;
    case "refuse":
      for (const index of fault.agents) stage.refuseNext(index, fault.retryAfterMs);
      break;
    case "limits": {
      const limits = amountsOf(fault.limits);
      if (!fault.agents) service.setLimits(limits, timeline.now);
      stage.setLimits(limits, fault.agents);
      break;
    }
    case "inject":
      stage.inject(fault.message);
      break;
  }
}
