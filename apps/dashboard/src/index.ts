export type {
  Control,
  Dashboard,
  DashboardOptions,
  EndpointUsage,
  ProviderFacts,
} from "./dashboard-types.ts";
export { startDashboard } from "./start-dashboard.ts";
