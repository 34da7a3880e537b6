export { usage } from "./options.ts";
export { runSimulate, type SimulateWorld } from "./run-simulate.ts";
