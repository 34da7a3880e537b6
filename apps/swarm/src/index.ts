export { usage, usageWithoutServers } from "./options.ts";
export { runDemo } from "./run-demo.ts";
export type {
  BrokerKind,
  Control,
  DashboardOptions,
  DemoServer,
  DemoWorld,
  OpenDashboard,
  ProviderFacts,
  Screen,
} from "./world.ts";
