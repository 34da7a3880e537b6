import { memoryBus } from "@hivepace/bus";
import { chaosBus } from "@hivepace/bus/testing";
import { memorySyncStore } from "@hivepace/core/testing";
import { createHive } from "../../../src/index.ts";
import { NAMESPACE } from "../core/spoken.ts";
import { limited } from "./amounts.ts";
import type { Owner, State } from "./state.ts";

const LOSSY = { drop: 0.1, duplicate: 0.05, delay: [1, 100] } as const;

/** The limits of keys that are not configured. */
const ON_DEMAND = { rpmLimit: 4 } as const;

export async function start(state: State, index: number): Promise<Owner> {
  const { clock, broker, memory, setup } = state;
  const { bus: kind, store, endpoints, keys, options, hives } = setup;
  const bus =
    kind === "none"
      ? undefined
      : chaosBus(await memoryBus(broker, { clock }), { seed: index, clock, ...(kind === "lossy" ? LOSSY : {}) });
  const hive = await createHive({
    ...options,
    endpoints,
    keys,
    limitsForKey: (key) => (key === "demand" ? ON_DEMAND : undefined),
    clock,
    bus,
    ...(store === "none" ? {} : { sync: Promise.resolve(memorySyncStore({ memory })) }),
    aggregation: store === "store" ? "store" : "bus",
    agentId: `hive-${index}-${state.starts++}`,
    namespace: NAMESPACE,
    ...(kind === "none" ? {} : { expectedAgents: hives }),
  });
  return {
    index,
    hive,
    bus,
    endpoints: limited(endpoints, options.mockEndpointTpmThreshold),
    keys,
    waiting: new Set(),
    demandAt: clock.now(),
    isClosing: false,
  };
}
