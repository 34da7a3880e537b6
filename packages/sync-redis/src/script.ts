import { createHash } from "node:crypto";
import type { Script } from "./exchange.ts";
import { ALLOCATE_LUA, SYNC_LUA } from "./scripts.generated.ts";

const script = (text: string): Script => ({ text, sha: createHash("sha1").update(text).digest("hex") });

/** Stores counts and returns sums: `scripts/sync.lua`. */
export const syncScript = script(SYNC_LUA);

/** Grants a limit to the agents of a large swarm: `scripts/allocate.lua`. */
export const allocateScript = script(ALLOCATE_LUA);

/**
 * Returns the error message with the name of the refused command. Redis up to 7.0 names only the line of the script on
 * which a command was not permitted.
 */
export function withCommand(message: string, script = syncScript): string {
  if (!message.includes("can't run this command")) return message;
  const lines = script.text.split("\n");
  const number = /user_script:(\d+)/.exec(message)?.[1];
  // The error of a command that is called with pcall has no line number.
  const line = number === undefined ? lines.find((one) => one.includes("pcall('")) : lines[Number(number) - 1];
  const command = /call\('(\w+)'/.exec(line ?? "")?.[1];
  return command === undefined ? message : `no right to ${command}: ${message}`;
}
