import { natsBus } from "@hivepace/bus-nats";
import { connect } from "nats";
import { addressOf } from "./addresses.ts";
import { twoMembersAgree } from "./agreement.ts";
import type { Step } from "./step.ts";

/** A hive over NATS with signed messages, on connections that the bus opens through `@nats-io/transport-node`. */
export const natsHive: Step = {
  name: "signed hive over NATS, @nats-io/transport-node",
  run: () =>
    twoMembersAgree(() => ({ bus: natsBus({ servers: addressOf("NATS_URL") }), secret: "of the smoke program" })),
};

/** A hive over NATS, with a connection of the older client `nats` that is lent to the bus. */
export const olderNatsHive: Step = {
  name: "hive over NATS, nats 2",
  async run() {
    const connection = await connect({ servers: addressOf("NATS_URL") });
    try {
      return await twoMembersAgree(() => ({ bus: natsBus(connection) }));
    } finally {
      await connection.close();
    }
  },
};
