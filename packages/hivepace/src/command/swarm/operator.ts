import { hostname, userInfo } from "node:os";

/** Returns the default agent id of a person who sends commands to a swarm from this machine. */
export function operator(): string {
  let user = "somebody";
  try {
    user = userInfo().username;
  } catch {
    // Some containers run as a user without a name.
  }
  return `operator ${user}@${hostname()}`.slice(0, 200);
}
