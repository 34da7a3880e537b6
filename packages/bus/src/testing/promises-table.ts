import type { BusCapabilities } from "../message-bus.ts";

/** What a bus promises, as the table that its README carries. A test compares the two. */
export function promisesTable(supports: BusCapabilities): string {
  const { delivery, ordering, echo, replay, maxPayloadBytes } = supports;
  return [
    "| promise | |",
    "|---|---|",
    `| delivery | ${delivery.replaceAll("-", " ")} |`,
    `| order | ${ordering === "none" ? "none" : "the messages of one publisher arrive in order"} |`,
    `| echo | ${echo ? "an instance hears what it publishes" : "an instance does not hear what it publishes"} |`,
    `| replay | ${replay ? "a new subscriber hears what was published before" : "a new subscriber hears only what comes after it"} |`,
    `| largest payload | ${maxPayloadBytes.toLocaleString("en-US")} bytes |`,
  ].join("\n");
}
