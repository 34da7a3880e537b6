import { isHivepaceError } from "../errors.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { RateManager } from "./rate-manager.ts";
import type { RateManagerOptions } from "./rate-types.ts";

export const MINUTE = 60_000;
/** A time half a minute into a window. */
export const START = Date.UTC(2030, 0, 1) + MINUTE / 2;

export interface World {
  clock: ManualClock;
  manager: RateManager;
}

export function alone(options: RateManagerOptions = {}): World {
  const clock = new ManualClock({ now: 1234.5, epochMs: START });
  return { clock, manager: new RateManager({ clock, ...options }) };
}

export function sharing(options: RateManagerOptions = {}): World {
  const world = alone(options);
  world.manager.share({ maxIds: 64 });
  return world;
}

/** A manager as another thread would have it, simulated in this thread. */
export function joined(options: RateManagerOptions = {}): World {
  const { clock, manager } = alone(options);
  const { limitsForKey, mockEndpointTpmThreshold } = options;
  const shared = structuredClone(manager.share({ maxIds: 64 }));
  return { clock, manager: new RateManager({ clock, shared, limitsForKey, mockEndpointTpmThreshold }) };
}

export function code(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isHivepaceError(error)) return error.code;
    throw error;
  }
  return "nothing thrown";
}

export function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The three kinds of managers that must behave alike, for `describe.each`. */
export const KINDS = [
  ["alone", alone],
  ["sharing", sharing],
  ["joined", joined],
] as const;
