import { InvalidConfigError } from "@hivepace/core";

/** Which rule gave the namespace: the first of these that is set. */
export type NamespaceSource =
  | "option"
  | "REDIS_NAMESPACE"
  | "ENSEMBLE_ENVIRONMENT"
  | "HIVEPACE_ENVIRONMENT"
  | "test run"
  | "default";

/** A namespace, and which rule gave it. */
export interface ResolvedNamespace {
  readonly namespace: string;
  readonly source: NamespaceSource;
}

/** Options of `resolveNamespace`; all have defaults. */
export interface NamespaceOptions {
  /** Goes before everything else. */
  namespace?: string | undefined;
  /** Where the variables are looked up, and where a test run leaves its name for its child processes and workers. */
  env?: Record<string, string | undefined> | undefined;
}

const VARIABLES = ["REDIS_NAMESPACE", "ENSEMBLE_ENVIRONMENT", "HIVEPACE_ENVIRONMENT"] as const;

/** A test run's own namespace: child processes and workers inherit the environment, and so the run that they belong to. */
const TEST_RUN = "HIVEPACE_TEST_NAMESPACE";

/**
 * Set by vitest, jest, node's own runner, mocha's workers and tap in the processes that run tests, and by nobody else: a
 * variable that people set themselves would put their production into a test run. Others set NODE_ENV.
 */
const TEST_RUNNERS = ["VITEST", "JEST_WORKER_ID", "NODE_TEST_CONTEXT", "MOCHA_WORKER_ID", "TAP_CHILD_ID"];

/**
 * Which namespace this process is in: the option, `REDIS_NAMESPACE`, `ENSEMBLE_ENVIRONMENT` (or `HIVEPACE_ENVIRONMENT`),
 * one of its own for a test run, or `default`. An empty variable counts as not set.
 */
export function resolveNamespace(options: NamespaceOptions = {}): ResolvedNamespace {
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
