import { crc32 } from "node:zlib";

/** One message of an event stream: lengths, checksums, headers and a JSON payload. */
export function eventOf(type: string, payload: unknown): Buffer {
  const isException = type.endsWith("Exception");
  const headers = Buffer.concat([
    header(":message-type", isException ? "exception" : "event"),
    header(isException ? ":exception-type" : ":event-type", type),
    header(":content-type", "application/json"),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const message = Buffer.alloc(16 + headers.length + body.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, 12);
  body.copy(message, 12 + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4);
  return message;
}

/** A header whose value is a string, which is type 7. */
function header(name: string, value: string): Buffer {
  const head = Buffer.from([name.length, ...Buffer.from(name), 7, value.length >> 8, value.length & 0xff]);
  return Buffer.concat([head, Buffer.from(value)]);
}

/** A model's own events as `InvokeModelWithResponseStream` wraps them. */
export function streamOfBedrock(events: readonly unknown[]): Response {
  const chunks = events.map((event) => {
    const bytes = Buffer.from(JSON.stringify(event)).toString("base64");
    return eventOf("chunk", { bytes });
  });
  return new Response(Buffer.concat(chunks), { headers: { "content-type": "application/vnd.amazon.eventstream" } });
}
