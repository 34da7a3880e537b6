import { describe, expect, test } from "vitest";
import { resolveNamespace } from "./resolve-namespace.ts";

const all = {
  REDIS_NAMESPACE: "from redis",
  ENSEMBLE_ENVIRONMENT: "staging",
  HIVEPACE_ENVIRONMENT: "production",
  VITEST: "true",
};
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));

describe("the first variable that is set wins and is reported as the source", () => {
  test.each([
    [{ namespace: "mine", env: all }, "mine", "option"],
    [{ env: all }, "from redis", "REDIS_NAMESPACE"],
    [{ env: without("REDIS_NAMESPACE") }, "staging", "ENSEMBLE_ENVIRONMENT"],
    [{ env: without("REDIS_NAMESPACE", "ENSEMBLE_ENVIRONMENT") }, "production", "HIVEPACE_ENVIRONMENT"],
    [{ env: { REDIS_NAMESPACE: "", ENSEMBLE_ENVIRONMENT: "dev" } }, "dev", "ENSEMBLE_ENVIRONMENT"],
    [{ env: {} }, "default", "default"],
    [{ env: { NODE_ENV: "production" } }, "default", "default"],
    [{ env: { MOCHA_COLORS: "1" } }, "default", "default"],
  ])("case %#", (options, namespace, source) => {
    expect(resolveNamespace(options)).toEqual({ namespace, source });
  });
});

test.each([
  { VITEST: "true" },
  { JEST_WORKER_ID: "1" },
  { NODE_TEST_CONTEXT: "child-v8" },
  { MOCHA_WORKER_ID: "0" },
  { TAP_CHILD_ID: "0" },
  { NODE_ENV: "test" },
])("a test run has its own, stable namespace: %j", (variables) => {
  const [one, other] = [{ ...variables }, { ...variables }];
  const first = resolveNamespace({ env: one });
  expect(first).toMatchObject({ source: "test run", namespace: expect.stringMatching(/^test-/) });
  expect(resolveNamespace({ env: one })).toEqual(first);
  expect(resolveNamespace({ env: other }).namespace).not.toBe(first.namespace);
});

test.each(["", 7 as unknown as string])(
  "an invalid option is rejected with an error that names the option (case %#)",
  (namespace) => {
    expect(() => resolveNamespace({ namespace })).toThrowError(
      expect.objectContaining({ code: "INVALID_CONFIG", option: "namespace", value: namespace }),
    );
  },
);
