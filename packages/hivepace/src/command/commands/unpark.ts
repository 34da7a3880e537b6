import { helpText } from "../help.ts";
import { commonOptions, SECRET_NOTE, swarmOptions } from "../settings.ts";
import { decide, parkOptions } from "../swarm/park.ts";
import type { World } from "../world.ts";

const { model, as } = parkOptions;
export const options = {
  reason: { value: "<text>", about: 'the reason, shown to everyone who sees the change. Default: "unparked"' },
  model,
  as,
  ...swarmOptions,
  ...commonOptions,
} as const;

export const help = helpText({
  name: "unpark",
  arguments: "<endpoint>",
  about: "Reopens an endpoint, or one of its models, that is parked, broken or overloaded, for all agents",
  options,
  more: `Without --model the command reopens the endpoint and all its models. An endpoint that still fails closes again with the next calls.
${SECRET_NOTE}
Exits with 1 when no agent applied the decision.`,
  examples: ["hivepace unpark eu --bus nats://localhost:4222"],
});

export function run(args: readonly string[], world: World): Promise<number> {
  return decide("unpark", args, world);
}
