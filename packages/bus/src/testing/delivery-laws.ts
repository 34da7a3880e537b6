import { bytes, equal, type Law, listen, text, until } from "./world.ts";

export const deliveryLaws: readonly Law[] = [
  [
    "a message reaches every subscriber of every instance",
    async ({ open, subject }) => {
      const [a, b, c] = await Promise.all([open(), open(), open()]);
      const here = subject();
      const heard = await Promise.all([listen(a, here), listen(b, here), listen(b, here), listen(c, here)]);
      await a.publish(here, bytes("from a"));
      await b.publish(here, bytes("from b"));
      const all = a.supports.echo ? [2, 2, 2, 2] : [1, 1, 1, 2];
      await until(() => heard.every((list, i) => list.length === all[i]), "all subscribers hear of both");
      equal([...(heard[3] ?? [])].sort(), ["from a", "from b"], "the messages at the third instance");
    },
  ],
  [
    "no message published after subscribe has resolved is lost",
    async ({ open, subject }) => {
      const [publisher, subscriber] = await Promise.all([open(), open()]);
      const heard: string[][] = [];
      for (let i = 0; i < 20; i++) {
        const here = subject();
        heard.push(await listen(subscriber, here));
        await publisher.publish(here, bytes("hello"));
      }
      await until(
        () => heard.every((list) => list.length > 0),
        "each of 20 fresh subscriptions hears its first message",
      );
    },
  ],
  [
    "an instance receives its own messages if and only if the bus supports echo",
    async ({ open, subject }) => {
      const [bus, other] = await Promise.all([open(), open()]);
      const here = subject();
      const heard = await listen(bus, here);
      await bus.publish(here, bytes("mine"));
      await other.publish(here, bytes("theirs"));
      await until(() => heard.includes("theirs"), "the other's message arrives");
      if (bus.supports.echo) await until(() => heard.includes("mine"), "its own message arrives");
      else equal(heard, ["theirs"], "the received messages");
    },
  ],
  [
    "the messages of one publisher arrive in order, each once, where the bus supports it",
    async ({ open, subject }) => {
      const [publisher, subscriber] = await Promise.all([open(), open()]);
      const here = subject();
      const heard = await listen(subscriber, here);
      const sent = Array.from({ length: 300 }, (_, i) => `${i}`);
      await Promise.all(sent.map((message) => publisher.publish(here, bytes(message))));
      await until(() => heard.length >= sent.length, "all messages arrive");
      const ordered = subscriber.supports.ordering === "per-publisher" ? heard : [...heard].sort((a, b) => +a - +b);
      equal(ordered, sent, "the order of arrival");
    },
  ],
  [
    "a new subscriber receives no earlier messages unless the bus supports replay",
    async ({ open, subject }) => {
      const [publisher, subscriber] = await Promise.all([open(), open()]);
      if (subscriber.supports.replay) return;
      const here = subject();
      await publisher.publish(here, bytes("before"));
      const heard = await listen(subscriber, here);
      await publisher.publish(here, bytes("after"));
      await until(() => heard.includes("after"), "the later message arrives");
      equal(heard, ["after"], "the received messages");
    },
  ],
  [
    "an unsubscribed handler receives nothing more, and other handlers continue",
    async ({ open, subject }) => {
      const bus = await open();
      const publisher = await open();
      const here = subject();
      const gone: string[] = [];
      const subscription = await bus.subscribe(here, (payload) => gone.push(text(payload)));
      const stays = await listen(bus, here);
      await publisher.publish(here, bytes("1"));
      await until(() => gone.length === 1 && stays.length === 1, "both hear the first");
      await subscription.unsubscribe();
      await subscription.unsubscribe();
      await publisher.publish(here, bytes("2"));
      await until(() => stays.length === 2, "the one that stays hears the second");
      equal(gone, ["1"], "the messages after unsubscribing");
    },
  ],
  [
    "subscribe, unsubscribe and subscribe again, without waiting, ends subscribed",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const first = await bus.subscribe(here, () => {});
      const leaving = first.unsubscribe();
      const heard = await listen(bus, here);
      await leaving;
      await publisher.publish(here, bytes("still here"));
      await until(() => heard.length === 1, "the second subscription hears");
    },
  ],
  [
    "an aborted signal ends a subscription; a signal aborted beforehand rejects with its reason",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const controller = new AbortController();
      const gone: string[] = [];
      await bus.subscribe(here, (payload) => gone.push(text(payload)), { signal: controller.signal });
      const stays = await listen(bus, here);
      controller.abort();
      await publisher.publish(here, bytes("1"));
      await until(() => stays.length === 1, "the other hears");
      equal(gone, [], "the messages after the abort");
      const refusal = bus.subscribe(here, () => {}, { signal: AbortSignal.abort("too late") });
      equal(await refusal.catch((reason: unknown) => reason), "too late", "the reason");
    },
  ],
];
