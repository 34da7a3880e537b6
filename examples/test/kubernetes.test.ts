import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  agentProgram,
  allManifests,
  dockerfile,
  files,
  kustomization,
  manifests,
  podEnvironment,
} from "./support/kubernetes.ts";

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

const deployments = allManifests().filter(({ kind }) => kind === "Deployment");

test("kustomize applies every manifest, and every file that it names exists", () => {
  const { resources, secretGenerator } = kustomization();
  const yaml = files.filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml");
  expect([...resources].sort()).toEqual(yaml.sort());
  for (const file of secretGenerator.flatMap((secret) => secret.files)) expect(files).toContain(file);
});

test("the volumes of the brokers are generated secrets", () => {
  const used = deployments.flatMap(({ spec }) => spec?.template.spec.volumes ?? []).map((one) => one.secret.secretName);
  expect(used.sort()).toEqual(
    kustomization()
      .secretGenerator.map(({ name }) => name)
      .sort(),
  );
});

test.each(["NATS_URL", "REDIS_URL"])("%s is the address of a Service that leads to a port of a pod", (setting) => {
  const { hostname, port } = new URL(podEnvironment()[setting] as string);
  const service = allManifests().find(({ kind, metadata }) => kind === "Service" && metadata.name === hostname);
  const [exposed] = service?.spec?.ports ?? [];
  expect(exposed?.port).toBe(Number(port));
  const behind = deployments.find(({ metadata }) => metadata.name === hostname)?.spec?.template;
  expect(behind?.metadata.labels).toEqual(service?.spec?.selector);
  const ports = behind?.spec.containers[0]?.ports;
  expect(ports).toContainEqual({ name: exposed?.targetPort, containerPort: Number(port) });
});

test.each(deployments.map((one) => [one.metadata.name, one] as const))(
  "%s has probes, requests, a memory limit, and no rights on its node",
  (_, { spec }) => {
    const pod = spec?.template.spec;
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    const [container] = pod?.containers ?? [];
    expect(container).toMatchObject({
      readinessProbe: {},
      livenessProbe: {},
      resources: {
        requests: { cpu: expect.stringMatching(/m$/), memory: expect.stringMatching(/Mi$/) },
        limits: { memory: expect.stringMatching(/Mi$/) },
      },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
    });
  },
);

test("the image of the Dockerfile is the one that is deployed, with the clients and the package manager of this repository", () => {
  const json = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
  const { dependencies } = json("../package.json") as { dependencies: Record<string, string> };
  for (const client of ["ioredis", "@nats-io/transport-node"])
    expect(dockerfile).toContain(`${client}@${dependencies[client]}`);
  expect(dockerfile).toContain(`npx -y ${json("../../package.json").packageManager} install`);
  const [{ name, newTag } = { name: "", newTag: "" }] = kustomization().images;
  const image = manifests()[2]?.spec?.template.spec.containers[0]?.image;
  expect([image, dockerfile.match(/--tag (\S+)/)?.[1]]).toEqual([`${name}:${newTag}`, `${name}:${newTag}`]);
});
