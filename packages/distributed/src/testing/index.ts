export { canDrive } from "./can-drive.ts";
export { checkSwarm } from "./check-swarm.ts";
export { type CostModel, typicalTokens } from "./costs.ts";
export { mixedFaults } from "./mixed-faults.ts";
export type {
  Burst,
  Demand,
  Drive,
  EndpointOptions,
  Fault,
  KeyOptions,
  Limits,
  NetworkOptions,
  Scheme,
  SimulationOptions,
  StoreOptions,
} from "./options.ts";
export type { FailureOptions, ProviderOptions, QuotaOptions } from "./provider-options.ts";
export { type PartFigures, type SwarmReport, useBetween } from "./report.ts";
export { swarmScenarios } from "./scenarios/index.ts";
export { realScenarios } from "./scenarios/real.ts";
export { type Figure, holds, type Scenario } from "./scenarios/scenario.ts";
export { simulateEngine } from "./simulate-engine.ts";
export { simulateSwarm } from "./simulate-swarm.ts";
export { swarmTable } from "./table.ts";
