import { type EndpointConfig, InvalidConfigError } from "@hivepace/core";
import { AMOUNT, checkKnown, isAmount, type OptionNames } from "@hivepace/core/internal";
import { burstWindow } from "../limiter/window-limits.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension, HiveEndpoint, WindowLimit } from "./hive-types.ts";
import { CONFIGURED } from "./limits.ts";

const LIMIT_OPTIONS = { dimension: true, limit: true, windowMs: true } as const satisfies OptionNames<WindowLimit>;
const BURST_OPTIONS = {
  requests: true,
  tokens: true,
  inputTokens: true,
  outputTokens: true,
} as const satisfies OptionNames<NonNullable<HiveEndpoint["burst"]>>;

/** Options of an endpoint whose limits have windows of their own. */
type Windowed = Pick<HiveEndpoint, "burst" | "limits">;

/**
 * The limits of an endpoint over further windows. A burst is such a limit: no more than the burst in the time in which the
 * endpoint's limit refills it. Throws INVALID_CONFIG.
 */
export function windowLimits(
  { burst, limits }: Windowed,
  plain: EndpointConfig,
  windowMs: number,
  option: string,
): readonly WindowLimit[] {
  return [
    ...readLimits(limits ?? undefined, `${option}.limits`),
    ...bursts(burst ?? undefined, plain, windowMs, option),
  ];
}

function readLimits(limits: Windowed["limits"], option: string): WindowLimit[] {
  if (limits === undefined) return [];
  if (!Array.isArray(limits)) throw new InvalidConfigError(option, "an array", limits);
  return limits.map((each: unknown, i) => {
    const at = `${option}[${i}]`;
    if (typeof each !== "object" || each === null)
      throw new InvalidConfigError(at, "{ dimension, limit, windowMs }", each);
    checkKnown(each, LIMIT_OPTIONS, `${at}.`);
    const { dimension, limit, windowMs } = each as WindowLimit;
    if (!DIMENSIONS.includes(dimension))
      throw new InvalidConfigError(
        `${at}.dimension`,
        '"requests", "tokens", "inputTokens" or "outputTokens"',
        dimension,
      );
    if (!isAmount(limit)) throw new InvalidConfigError(`${at}.limit`, AMOUNT, limit);
    if (!isAmount(windowMs)) throw new InvalidConfigError(`${at}.windowMs`, AMOUNT, windowMs);
    return { dimension, limit, windowMs };
  });
}

function bursts(burst: Windowed["burst"], plain: EndpointConfig, windowMs: number, option: string): WindowLimit[] {
  if (burst === undefined) return [];
  if (typeof burst !== "object" || burst === null)
    throw new InvalidConfigError(`${option}.burst`, "an object with an amount for each dimension", burst);
  checkKnown(burst, BURST_OPTIONS, `${option}.burst.`);
  return DIMENSIONS.flatMap((dimension: HiveDimension) => {
    const amount = burst[dimension];
    if (amount === undefined) return [];
    const at = `${option}.burst.${dimension}`;
    if (!isAmount(amount)) throw new InvalidConfigError(at, AMOUNT, amount);
    const limit = plain[CONFIGURED[dimension]];
    if (limit === undefined) throw new InvalidConfigError(at, `given together with ${CONFIGURED[dimension]}`, amount);
    if (!(limit > 0) || amount >= limit) return [];
    return [{ dimension, limit: amount, windowMs: burstWindow({ limit, windowMs }, amount).windowMs }];
  });
}
