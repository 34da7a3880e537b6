import type { BusState } from "../message-bus.ts";
import { bytes, equal, inTime, type Law, listen, rejects, text, until } from "./world.ts";

type Restart = (whileAway?: () => Promise<void>) => Promise<void>;

/** Laws that hold while the broker is killed and restarted. */
export const outageLaws = (restart: Restart): readonly Law[] => [
  [
    "after an outage the bus is ready again and its subscriptions survive",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const heard = await listen(bus, here);
      const states: BusState[] = [];
      bus.onState((state) => states.push(state));
      await restart(() => until(() => states.includes("interrupted"), "the outage is noticed"));
      await until(() => bus.state === "ready" && publisher.state === "ready", "both are ready again");
      equal([states[0], states.at(-1)], ["interrupted", "ready"], "the states on the way");
      await publishUntilHeard(publisher, here, heard);
    },
  ],
  [
    "publish rejects with BUS_UNAVAILABLE in bounded time while the broker is away",
    async ({ open, subject }) => {
      const bus = await open();
      await restart(async () => {
        await until(() => bus.state === "interrupted", "the outage is noticed");
        await inTime(
          rejects(bus.publish(subject(), bytes("x")), "BUS_UNAVAILABLE", "publish while away"),
          "publish rejects",
        );
      });
      await until(() => bus.state === "ready", "the bus is ready again");
      await inTime(bus.publish(subject(), bytes("x")), "publish works again");
    },
  ],
  [
    "every publish during an outage settles: it was sent, or it rejects with BUS_UNAVAILABLE",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const heard = new Set<string>();
      await bus.subscribe(here, (payload) => heard.add(text(payload)));
      const confirmed: string[] = [];
      let going = true;
      const traffic = (async () => {
        for (let i = 0; going; i++) {
          const message = `${i}`;
          await publisher.publish(here, bytes(message)).then(
            () => confirmed.push(message),
            (error) => rejects(Promise.reject(error), "BUS_UNAVAILABLE", "a publish during the outage"),
          );
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      })();
      await until(() => confirmed.length > 20, "traffic flows");
      await restart();
      // A publisher may reconnect before a subscriber does; messages published in between may be lost.
      await until(() => bus.state === "ready" && publisher.state === "ready", "both are ready again");
      const atReturn = confirmed.length;
      await until(() => confirmed.length > atReturn + 20, "traffic flows again");
      going = false;
      await inTime(traffic, "the last publish ends");
      await until(() => heard.has(confirmed.at(-1) ?? ""), "the last message arrives");
      if (bus.supports.delivery === "at-least-once")
        await until(() => confirmed.every((message) => heard.has(message)), "nothing that was confirmed is lost");
    },
  ],
  [
    "subscribe while the broker is away resolves when the broker is back",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      let subscribed: Promise<string[]> | undefined;
      await restart(async () => {
        await until(() => bus.state === "interrupted", "the outage is noticed");
        subscribed = listen(bus, here);
      });
      const heard = await inTime(subscribed ?? listen(bus, here), "subscribe resolves");
      await until(() => publisher.state === "ready", "the publisher is back");
      await publishUntilHeard(publisher, here, heard);
    },
  ],
  [
    "close while the broker is away ends in bounded time, and so do pending subscribe calls",
    async ({ open, subject }) => {
      const bus = await open();
      await restart(async () => {
        await until(() => bus.state === "interrupted", "the outage is noticed");
        const waiting = bus.subscribe(subject(), () => {});
        const refused = rejects(waiting, "BUS_CLOSED", "a subscribe under way");
        await inTime(bus.close(), "close ends");
        await inTime(refused, "the subscribe ends");
      });
    },
  ],
];

/** Publishes repeatedly, because right after an outage a publisher may be ready before a subscriber is. */
async function publishUntilHeard(
  publisher: { publish(subject: string, payload: Uint8Array): Promise<void> },
  subject: string,
  heard: readonly string[],
): Promise<void> {
  let sent = 0;
  await until(() => {
    if (heard.length === 0) publisher.publish(subject, bytes(`${sent++}`)).catch(() => {});
    return heard.length > 0;
  }, "a message arrives after the outage");
}
