import type { BusCapabilities } from "../message-bus.ts";

/** Renders the capabilities of a bus as the table in its README. A test compares the two. */
export function promisesTable(supports: BusCapabilities): string {
  const { delivery, ordering, echo, replay, maxPayloadBytes } = supports;
  return [
    "| property | value |",
    "|---|---|",
    `| delivery | ${delivery.replaceAll("-", " ")} |`,
    `| order | ${ordering === "none" ? "none" : "the messages of one publisher arrive in order"} |`,
    `| echo | ${echo ? "an instance receives its own messages" : "an instance does not receive its own messages"} |`,
    `| replay | ${replay ? "a new subscriber receives earlier messages" : "none: a new subscriber receives only later messages"} |`,
    `| largest payload | ${maxPayloadBytes.toLocaleString("en-US")} bytes |`,
  ].join("\n");
}
