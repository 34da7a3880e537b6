export { checkSwarm } from "./check-swarm.ts";
export { type CostModel, typicalTokens } from "./costs.ts";
export { mixedFaults } from "./mixed-faults.ts";
export type {
  Burst,
  Demand,
  Fault,
  Limits,
  NetworkOptions,
  ProviderOptions,
  Scheme,
  SimulationOptions,
  StoreOptions,
} from "./options.ts";
export { type SwarmReport, useBetween } from "./recorder.ts";
export { swarmScenarios } from "./scenarios/index.ts";
export { type Figure, holds, type Scenario } from "./scenarios/scenario.ts";
export { simulateSwarm } from "./simulate-swarm.ts";
export { swarmTable } from "./table.ts";
