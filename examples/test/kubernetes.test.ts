import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentProgram, manifests, podEnvironment } from "./support/kubernetes.ts";

test("the manifests are YAML: a ConfigMap, a Secret and a Deployment", () => {
  expect(manifests().map(({ kind }) => kind)).toEqual(["ConfigMap", "Secret", "Deployment"]);
  for (const value of Object.values(podEnvironment())) expect(typeof value).toBe("string");
});

test("the manifests set exactly the environment variables that the agent reads", () => {
  const asked = [...readFileSync(agentProgram, "utf8").matchAll(/setting\("(\w+)"\)/g)].map(([, name]) => name);
  const [container] = manifests()[2]?.spec?.template.spec.containers ?? [];
  const given = [...Object.keys(podEnvironment()), ...(container?.env ?? []).map(({ name }) => name)];
  expect(given.sort()).toEqual([...new Set(asked)].sort());
  expect(container?.env).toEqual([{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }]);
});

test("the grace period of a pod is longer than its pre-stop hook and drain together", () => {
  const { terminationGracePeriodSeconds, containers } = manifests()[2]?.spec?.template.spec ?? { containers: [] };
  const preStopSeconds = Number(containers[0]?.lifecycle.preStop.exec.command[1]);
  const drainSeconds = Number(podEnvironment()["DRAIN_MS"]) / 1_000;
  expect(preStopSeconds + drainSeconds).toBeLessThan(terminationGracePeriodSeconds ?? 0);
});
