import { InvalidConfigError } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";

/** The rule that determined the namespace, in order of precedence. */
export type NamespaceSource =
  | "option"
  | "REDIS_NAMESPACE"
  | "ENSEMBLE_ENVIRONMENT"
  | "HIVEPACE_ENVIRONMENT"
  | "test run"
  | "default";

/** A namespace, and the rule that determined it. */
export interface ResolvedNamespace {
  readonly namespace: string;
  readonly source: NamespaceSource;
}

/** Options of `resolveNamespace`; all have defaults. */
export interface NamespaceOptions {
  /** The namespace; takes precedence over all variables. */
  namespace?: string | undefined;
  /**
   * Environment variables. A test run also stores its namespace here, for child processes and workers.
   *
   * @defaultValue process.env
   */
  env?: Record<string, string | undefined> | undefined;
}

const OPTIONS = { namespace: true, env: true } as const satisfies OptionNames<NamespaceOptions>;

const VARIABLES = ["REDIS_NAMESPACE", "ENSEMBLE_ENVIRONMENT", "HIVEPACE_ENVIRONMENT"] as const;

/**
 * The variable with the namespace of a test run. Child processes and workers inherit the environment, and with it the
 * namespace.
 */
const TEST_RUN = "HIVEPACE_TEST_NAMESPACE";

/**
 * Variables that vitest, jest, node's own runner, mocha's workers and tap set in the processes that run tests.
 * Variables that people set themselves are excluded, because they would turn a production process into a test run.
 * Other runners set NODE_ENV.
 */
const TEST_RUNNERS = ["VITEST", "JEST_WORKER_ID", "NODE_TEST_CONTEXT", "MOCHA_WORKER_ID", "TAP_CHILD_ID"];

/**
 * Returns the namespace of this process: the option, `REDIS_NAMESPACE`, `ENSEMBLE_ENVIRONMENT` (or
 * `HIVEPACE_ENVIRONMENT`), a separate one for a test run, or `default`. An empty variable counts as not set.
 *
 * @throws InvalidConfigError when the option is not a non-empty string.
 */
export function resolveNamespace(options: NamespaceOptions = {}): ResolvedNamespace {
  checkKnown(options, OPTIONS);
  const { namespace, env = globalThis.process?.env ?? {} } = options;
  if (namespace !== undefined) {
    if (typeof namespace !== "string" || namespace === "")
      throw new InvalidConfigError("namespace", "a string that is not empty", namespace);
    return { namespace, source: "option" };
  }
  for (const source of VARIABLES) {
    const value = env[source];
    if (value) return { namespace: value, source };
  }
  if (env["NODE_ENV"] === "test" || env[TEST_RUN] || TEST_RUNNERS.some((variable) => env[variable])) {
    env[TEST_RUN] ||= `test-${crypto.randomUUID()}`;
    return { namespace: env[TEST_RUN], source: "test run" };
  }
  return { namespace: "default", source: "default" };
}
