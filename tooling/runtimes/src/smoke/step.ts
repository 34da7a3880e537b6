/** One thing that the smoke program proves. Steps run one after the other and leave nothing open. */
export interface Step {
  /** Printed with the result, and named when the step fails. */
  readonly name: string;
  /** Resolves with one line that says what was seen; rejects when something is wrong. */
  run(): Promise<string>;
}
