import { checkKnown } from "../known-options.ts";
import { need } from "../need.ts";
import { checkEndpoint } from "./endpoints.ts";
import { checkId, checkLimit } from "./limits.ts";
import { CONFIG_OPTIONS, ENDPOINT_OPTIONS, KEY_OPTIONS } from "./option-names.ts";
import type { EndpointConfig, KeyLimits } from "./rate-types.ts";

/** An endpoint as written in configuration files. The names of `EndpointConfig` are accepted as well. */
export interface EndpointFileConfig {
  readonly id: string;
  readonly model?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly rpm_limit?: number | undefined;
  readonly tpm_limit?: number | undefined;
  readonly input_tpm_limit?: number | undefined;
  readonly output_tpm_limit?: number | undefined;
  readonly max_in_flight_per_process?: number | undefined;
}

/** Limits of a key as written in configuration files. The names of `KeyLimits` are accepted as well. */
export interface KeyFileConfig {
  readonly rate_limit_rpm?: number | undefined;
  readonly rate_limit_tpm?: number | undefined;
}

/** A parsed configuration. An absent part leaves its limits unchanged. */
export interface RateConfig {
  readonly endpoints?: readonly (EndpointFileConfig | EndpointConfig)[] | undefined;
  readonly keys?: { readonly [id: string]: KeyFileConfig | KeyLimits } | undefined;
}

/** Option names in configuration files that differ from ours by more than their spelling. */
const RENAMED: Readonly<Record<string, string>> = { rate_limit_rpm: "rpmLimit", rate_limit_tpm: "tpmLimit" };

/** Checks a whole configuration before anything is changed. Throws INVALID_CONFIG with the path of the mistake. */
export function readConfig(config: RateConfig): { endpoints?: EndpointConfig[]; keys?: Map<string, KeyLimits> } {
  const { endpoints, keys } = objectAt(config, "config") as RateConfig;
  checkKnown(config, CONFIG_OPTIONS);
  need(endpoints === undefined || Array.isArray(endpoints), "endpoints", "a list", endpoints);
  const taken = new Set<string>();
  return {
    ...(endpoints && {
      endpoints: endpoints.map((file, i) => {
        const endpoint = read(file, `endpoints[${i}]`, ENDPOINT_OPTIONS) as unknown as EndpointConfig;
        checkEndpoint(endpoint, `endpoints[${i}].`);
        // Two entries for one model are a mistake, because the second would silently replace the first.
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
        Object.entries(objectAt(keys, "keys")).map(([id, file]) => {
          checkId("keys", id);
          return [id, read(file, `keys.${id}`, KEY_OPTIONS) as KeyLimits];
        }),
      ),
    }),
  };
}

/**
 * Returns an entry with the option names of the API: `rpm_limit` becomes `rpmLimit`. Null, an empty value in YAML,
 * counts as absent.
 */
function read(file: unknown, at: string, known: Readonly<Record<string, true>>): Record<string, unknown> {
  checkNames(file, at, known);
  const result: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(file as object)) {
    const value = given ?? undefined;
    const ours = apiName(name);
    if (/limit|flight/i.test(name)) checkLimit(`${at}.${name}`, value);
    result[ours] = value;
  }
  return result;
}

/** Returns the name that an option of a configuration file has in the API. */
function apiName(name: string): string {
  return RENAMED[name] ?? name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Checks the names of an entry, as written in the API or in configuration files. Null counts as absent.
 *
 * @throws INVALID_CONFIG with the nearest known name
 */
export function checkNames(file: unknown, at: string, known: Readonly<Record<string, true>>): void {
  for (const [name, value] of Object.entries(objectAt(file, at)))
    if (!Object.hasOwn(known, apiName(name))) checkKnown({ [name]: value ?? undefined }, known, `${at}.`);
}

function objectAt(value: unknown, at: string): object {
  need(typeof value === "object" && value !== null && !Array.isArray(value), at, "an object", value);
  return value as object;
}
