import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

const folder = new URL("../../kubernetes/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");

export const agentProgram = new URL("agent.ts", folder);
export const natsConfig = read("nats.conf");

/** The arguments of `ACL SETUSER`: the name, and the rules. */
export const redisUser = read("redis.acl").trim().split(" ").slice(1);

/** Any Kubernetes object of the manifests. */
export interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly valueFrom: object }[];
    readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  }[];
}

/** Throws the first YAML error or warning. */
export function manifests(): Manifest[] {
  return parseAllDocuments(read("deployment.yaml")).map((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw error;
    return document.toJS() as Manifest;
  });
}

/** Returns the environment that the manifests give to a pod, except its name. */
export function podEnvironment(): Record<string, string> {
  return Object.assign({}, ...manifests().map(({ data, stringData }) => ({ ...data, ...stringData })));
}
