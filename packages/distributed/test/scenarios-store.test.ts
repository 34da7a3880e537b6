import { describe } from "vitest";
import { checkScenarios } from "./support/check-scenarios.ts";

describe("with ten agents", () => checkScenarios("store"));
describe("with a hundred", () => checkScenarios("store", 100));
