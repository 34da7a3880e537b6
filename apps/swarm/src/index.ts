export { usage, usageWithoutServers } from "./options.ts";
export { runDemo } from "./run-demo.ts";
export type { BrokerKind, DemoServer, DemoWorld, Screen } from "./world.ts";
