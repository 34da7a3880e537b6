export type { NatsCallback, NatsConnectionLike, NatsStatusLike, NatsSubscriptionLike } from "./client.ts";
export { type NatsBusOptions, type NatsOptions, natsBus } from "./nats-bus.ts";
export { natsSupports } from "./nats-driver.ts";
