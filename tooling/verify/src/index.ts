export { type Replacement, withReplacement } from "./bundle.ts";
export type { Case, CaseResult } from "./case.ts";
export { runProgram } from "./program.ts";
