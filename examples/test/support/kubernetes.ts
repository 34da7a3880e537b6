import { readdirSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

const folder = new URL("../../kubernetes/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");

export const agentProgram = new URL("agent.ts", folder);
export const natsConfig = read("nats.conf");

/** The arguments of `ACL SETUSER` for the agent: the name, and the rules. */
export const redisUser = (read("redis.acl").match(/^user agent .*$/m)?.[0] ?? "").split(" ").slice(1);

export const dockerfile = read("Dockerfile");

/** The names of all files of the example. */
export const files = readdirSync(folder);

/** Any Kubernetes object of the manifests. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
    readonly selector: object;
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
  };
}

/** What kustomize applies. */
export interface Kustomization {
  readonly resources: readonly string[];
  readonly secretGenerator: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly volumes?: readonly { readonly secret: { readonly secretName: string } }[];
  readonly containers: readonly {
    readonly image: string;
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly env: readonly { readonly name: string; readonly valueFrom: object }[];
    readonly resources: object;
    readonly securityContext: object;
    readonly readinessProbe: object;
    readonly livenessProbe: object;
    readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  }[];
}

/** Returns the documents of a YAML file. Throws the first error or warning. */
function documents<T>(file: string): T[] {
  return parseAllDocuments(read(file)).map((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw error;
    return document.toJS() as T;
  });
}

export const kustomization = (): Kustomization => documents<Kustomization>("kustomization.yaml")[0] as Kustomization;

/** The manifests of the agent itself. */
export const manifests = (): Manifest[] => documents<Manifest>("deployment.yaml");

/** The manifests that kustomize applies, without the generated secrets. */
export const allManifests = (): Manifest[] => kustomization().resources.flatMap((file) => documents<Manifest>(file));

/** Returns the environment that the manifests give to a pod, except its name. */
export function podEnvironment(): Record<string, string> {
  return Object.assign({}, ...manifests().map(({ data, stringData }) => ({ ...data, ...stringData })));
}
