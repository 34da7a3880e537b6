/** For other servers of this workspace that only this machine should reach: the page's own rules, once. */
export { send, sendJson } from "./answers.ts";
export { closeServer } from "./close-server.ts";
export { isOurHost } from "./guard.ts";
export { listen } from "./listen.ts";
