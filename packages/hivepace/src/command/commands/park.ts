import { helpText } from "../help.ts";
import { SECRET_NOTE } from "../settings.ts";
import { decide, parkOptions } from "../swarm/park.ts";
import type { World } from "../world.ts";

export const options = parkOptions;

export const help = helpText({
  name: "park",
  arguments: "<endpoint>",
  about: "Closes an endpoint, or one of its models, for all agents: calls go elsewhere, wait or are rejected",
  options,
  more: `Without a secret, agents apply the decision for one window (at least a minute): repeat the command, or let a program call hive.park.
${SECRET_NOTE}
Exits with 1 when no agent applied the decision.`,
  examples: ['hivepace park eu --for 15m --reason "maintenance" --bus nats://localhost:4222'],
});

export function run(args: readonly string[], world: World): Promise<number> {
  return decide("park", args, world);
}
