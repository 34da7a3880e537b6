import { bytes, equal, type Law, listen, rejects, text, until, warningsDuring } from "./world.ts";

/** Legal subjects that are special to some broker or in JavaScript. */
// biome-ignore format: a table
const AWKWARD = [
  "a.b", "a.*", "a.>", "*", ">", "a.b.c", "a", ".a", "a.", "a..b", "A.B", "a b", " ", "a:b", "a/b", "a%b", "%2E", "a%2Eb",
  "$SYS.x", "_INBOX.x", "__proto__", "constructor", "{tag}.a", "[a]", "a?", "ä.日本.🐝", "x".repeat(200),
];

const UNLAWFUL: unknown[] = ["", "x".repeat(256), "é".repeat(128), "a\nb", "a\0b", "\ud800", undefined, null, 7, {}];

export const messageLaws: readonly Law[] = [
  [
    "subjects are exact: awkward but legal subjects receive their own messages only",
    async ({ open }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const heard = await Promise.all(AWKWARD.map((subject) => listen(bus, subject)));
      for (const subject of AWKWARD) await publisher.publish(subject, bytes(subject));
      await until(() => heard.every((list) => list.length > 0), "every subject hears something");
      equal(
        heard,
        AWKWARD.map((subject) => [subject]),
        "the messages of each subject",
      );
    },
  ],
  [
    "an invalid subject is rejected with BUS_SUBJECT_INVALID",
    async ({ open }) => {
      const bus = await open();
      for (const subject of UNLAWFUL as string[]) {
        await rejects(bus.publish(subject, bytes("x")), "BUS_SUBJECT_INVALID", `publish to ${String(subject)}`);
        await rejects(
          bus.subscribe(subject, () => {}),
          "BUS_SUBJECT_INVALID",
          `subscribe to ${String(subject)}`,
        );
      }
    },
  ],
  [
    "payloads from empty to the largest arrive byte for byte",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const heard: Uint8Array[] = [];
      await bus.subscribe(here, (payload) => heard.push(payload));
      const { maxPayloadBytes } = bus.supports;
      const payloads = [0, 1, 256, 65_537, maxPayloadBytes].filter((size) => size <= maxPayloadBytes).map(pattern);
      for (const payload of payloads) await publisher.publish(here, payload);
      await until(() => heard.length === payloads.length, "all payloads arrive");
      equal(heard.map(digest), payloads.map(digest), "the messages that arrived");
    },
  ],
  [
    "a payload of one byte more than the maximum is rejected with BUS_PAYLOAD_TOO_LARGE, and nothing is sent",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const heard = await listen(bus, here);
      const large = publisher.publish(here, new Uint8Array(publisher.supports.maxPayloadBytes + 1));
      await rejects(large, "BUS_PAYLOAD_TOO_LARGE", "a payload above the maximum");
      await publisher.publish(here, bytes("small"));
      await until(() => heard.length > 0, "the small one arrives");
      equal(heard, ["small"], "the messages that arrived");
      equal(publisher.state, "ready", "the state afterwards");
    },
  ],
  [
    "the caller may reuse the buffer at once, and of a view only its own bytes are sent",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      const heard = await listen(bus, here);
      // `slice` of Node's Buffer, a subclass of Uint8Array, does not copy.
      const buffers = [bytes("[inside]"), globalThis.Buffer?.from("[inside]") ?? bytes("[inside]")];
      for (const buffer of buffers) {
        const published = publisher.publish(here, buffer.subarray(1, 7));
        buffer.fill(0);
        await published;
      }
      await until(() => heard.length === 2, "both arrive");
      equal(heard, ["inside", "inside"], "the messages that arrived");
    },
  ],
  [
    "a handler that throws is reported and affects no other handler, message or publisher",
    async ({ open, subject }) => {
      const [bus, publisher] = await Promise.all([open(), open()]);
      const here = subject();
      await bus.subscribe(here, () => {
        throw new Error("a handler of the suite throws on purpose");
      });
      const heard = await listen(bus, here);
      const reports = await warningsDuring(async () => {
        await publisher.publish(here, bytes("1"));
        await publisher.publish(here, bytes("2"));
        await until(() => heard.length === 2, "the other handler hears both messages");
      });
      equal(reports, ["HIVEPACE_HANDLER_THREW", "HIVEPACE_HANDLER_THREW"], "the reported codes");
    },
  ],
  [
    "a handler may publish, subscribe, unsubscribe and close",
    async ({ open, subject }) => {
      const [bus, publisher, listener] = await Promise.all([open(), open(), open()]);
      const [ask, answer] = [subject(), subject()];
      const heard = await listen(listener, answer);
      const steps: string[] = [];
      const closed = new Promise<void>((resolve, reject) => {
        const handle = async (payload: Uint8Array): Promise<void> => {
          await bus.publish(answer, payload);
          const inner = await bus.subscribe(subject(), () => {});
          await inner.unsubscribe();
          steps.push(text(payload));
          await bus.close();
        };
        bus
          .subscribe(ask, (payload) => void handle(payload).then(resolve, reject))
          .then(() => publisher.publish(ask, bytes("ping")), reject);
      });
      await closed;
      await until(() => heard.length === 1, "the answer arrives");
      equal([steps, bus.state], [["ping"], "closed"], "the steps of the handler");
    },
  ],
];

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 255);
}

/** A summary that distinguishes payloads and is short enough to print. */
function digest(payload: Uint8Array): string {
  let hash = 2166136261;
  for (const byte of payload) hash = Math.imul(hash ^ byte, 16777619);
  return `${payload.length} bytes, ${hash >>> 0}`;
}
