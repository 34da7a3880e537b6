import { checkEndpoint } from "./endpoints.ts";
import { checkId, checkLimit, need } from "./limits.ts";
import type { EndpointConfig, KeyLimits } from "./rate-types.ts";

/** An endpoint as configuration files have it. The names of `EndpointConfig` do as well. */
export interface EndpointFileConfig {
  readonly id: string;
  readonly model?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly rpm_limit?: number | undefined;
  readonly tpm_limit?: number | undefined;
  readonly input_tpm_limit?: number | undefined;
  readonly output_tpm_limit?: number | undefined;
  readonly max_in_flight?: number | undefined;
}

/** Limits of a key as configuration files have them. The names of `KeyLimits` do as well. */
export interface KeyFileConfig {
  readonly rate_limit_rpm?: number | undefined;
  readonly rate_limit_tpm?: number | undefined;
}

/** A parsed configuration. A part that is absent stays as it is. */
export interface RateConfig {
  readonly endpoints?: readonly (EndpointFileConfig | EndpointConfig)[] | undefined;
  readonly keys?: { readonly [id: string]: KeyFileConfig | KeyLimits } | undefined;
}

/** Checks all of it before anything is changed; throws INVALID_CONFIG with the path of the mistake. */
export function readConfig(config: RateConfig): { endpoints?: EndpointConfig[]; keys?: Map<string, KeyLimits> } {
  const { endpoints, keys } = read(config, "config") as RateConfig;
  need(endpoints === undefined || Array.isArray(endpoints), "endpoints", "a list", endpoints);
  const taken = new Set<string>();
  return {
    ...(endpoints && {
      endpoints: endpoints.map((file, i) => {
        const endpoint = read(file, `endpoints[${i}]`) as unknown as EndpointConfig;
        checkEndpoint(endpoint, `endpoints[${i}].`);
        // Two entries for one model are a mistake: the second would silently replace the first.
        const { id, model, models } = endpoint;
        for (const one of models ?? [model]) {
          const name = `${id}\0${one}`;
          need(
            !taken.has(name),
            `endpoints[${i}]`,
            "the only entry for its id and model",
            one === undefined ? id : `${id} ${one}`,
          );
          taken.add(name);
        }
        return endpoint;
      }),
    }),
    ...(keys && {
      keys: new Map(
        Object.entries(read(keys, "keys", false)).map(([id, file]) => {
          checkId("keys", id);
          return [id, read(file, `keys.${id}`) as KeyLimits];
        }),
      ),
    }),
  };
}

/** The same with our names for the limits: `rpm_limit` is `rpmLimit`. What is empty in YAML, null, is absent. */
function read(file: unknown, at: string, isRenamed = true): Record<string, unknown> {
  need(typeof file === "object" && file !== null && !Array.isArray(file), at, "an object", file);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(file as object)) {
    if (/limit|flight/i.test(name) && isRenamed) checkLimit(`${at}.${name}`, value ?? undefined);
    result[isRenamed ? name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) : name] = value ?? undefined;
  }
  return result;
}
