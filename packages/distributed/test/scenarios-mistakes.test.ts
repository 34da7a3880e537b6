import { checkScenarios } from "./support/check-scenarios.ts";

checkScenarios("mistakes");
