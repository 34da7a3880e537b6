/** One check of the smoke program. Steps run one after the other and leave nothing open. */
export interface Step {
  /** Printed with the result, and named when the step fails. */
  readonly name: string;
  /** Resolves with one line about the result; rejects when the check fails. */
  run(): Promise<string>;
}
