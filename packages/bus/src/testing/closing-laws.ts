import type { BusState } from "../message-bus.ts";
import { bytes, equal, inTime, type Law, listen, rejects, until } from "./world.ts";

export const closingLaws: readonly Law[] = [
  [
    "an opened bus is ready and describes itself",
    async ({ open }) => {
      const bus = await open();
      equal(bus.state, "ready", "the state");
      equal(bus.name.length > 0 && bus.supports.maxPayloadBytes > 0, true, "name and capabilities are there");
    },
  ],
  [
    "close is idempotent, also when called concurrently, and listeners are called once",
    async ({ open }) => {
      const bus = await open();
      const states: BusState[] = [];
      bus.onState((state) => states.push(state));
      await inTime(Promise.all([bus.close(), bus.close(), bus[Symbol.asyncDispose]()]), "close ends");
      await bus.close();
      equal([bus.state, states], ["closed", ["closed"]], "the state and its changes");
    },
  ],
  [
    "a closed bus rejects publish and subscribe with BUS_CLOSED",
    async ({ open, subject }) => {
      const bus = await open();
      const subscription = await bus.subscribe(subject(), () => {});
      await bus.close();
      await rejects(bus.publish(subject(), bytes("x")), "BUS_CLOSED", "publish");
      await rejects(
        bus.subscribe(subject(), () => {}),
        "BUS_CLOSED",
        "subscribe",
      );
      await subscription.unsubscribe();
    },
  ],
  [
    "calls in flight end when the bus closes",
    async ({ open, subject }) => {
      const bus = await open();
      const underway = [
        bus.publish(subject(), bytes("x")),
        bus.subscribe(subject(), () => {}),
        ...Array.from({ length: 20 }, () => bus.publish(subject(), new Uint8Array(1_000))),
      ];
      const settled = Promise.allSettled(underway);
      await inTime(bus.close(), "close ends");
      const outcomes = await inTime(settled, "every call ends");
      for (const outcome of outcomes)
        if (outcome.status === "rejected")
          await rejects(Promise.reject(outcome.reason), "BUS_CLOSED", "a call under way");
    },
  ],
  [
    "closing one instance stops its messages and does not affect other instances",
    async ({ open, subject }) => {
      const [leaving, publisher, neighbour] = await Promise.all([open(), open(), open()]);
      const here = subject();
      const gone = await listen(leaving, here);
      const stays = await listen(neighbour, here);
      await leaving.close();
      await publisher.publish(here, bytes("after"));
      await until(() => stays.length === 1, "the neighbour hears");
      equal(gone, [], "the messages after the close");
      equal([publisher.state, neighbour.state], ["ready", "ready"], "the neighbours' states");
    },
  ],
];
