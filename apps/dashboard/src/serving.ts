/**
 * The dashboard's rules for loopback servers (hosts, headers, listening, closing), for other servers of this workspace.
 */
export { send, sendJson } from "./answers.ts";
export { closeServer } from "./close-server.ts";
export { isOurHost } from "./guard.ts";
export { listen } from "./listen.ts";
