export { rateLimitKey, swarmKey } from "./rate-limit-key.ts";
export {
  type NamespaceOptions,
  type NamespaceSource,
  type ResolvedNamespace,
  resolveNamespace,
} from "./resolve-namespace.ts";
